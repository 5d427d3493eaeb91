//! Regions, services, operations and error codes by the contract's patterns and canonical spelling.

use super::lint::LintFinding;

/// Names that people use for a service, and the one that LocalStack goes by: signing names, CLI names
/// and names from the console.
const SERVICE_ALIASES: &[(&str, &str)] = &[
    ("states", "stepfunctions"),
    ("sfn", "stepfunctions"),
    ("step-functions", "stepfunctions"),
    ("monitoring", "cloudwatch"),
    ("email", "ses"),
    ("eventbridge", "events"),
    ("cloudwatchlogs", "logs"),
    ("cloudwatch-logs", "logs"),
    ("ddb", "dynamodb"),
    ("streams", "dynamodbstreams"),
    ("dynamodb-streams", "dynamodbstreams"),
    ("secrets-manager", "secretsmanager"),
    ("secrets_manager", "secretsmanager"),
    ("api-gateway", "apigateway"),
    ("parameter-store", "ssm"),
    ("cognito", "cognito-idp"),
    ("kinesis-firehose", "firehose"),
    ("kinesisfirehose", "firehose"),
    ("elasticloadbalancing", "elbv2"),
    ("elasticmapreduce", "emr"),
    ("elasticfilesystem", "efs"),
    ("tagging", "resourcegroupstaggingapi"),
    ("route-53", "route53"),
    ("simpledb", "sdb"),
];

type Fits = fn(char) -> bool;

/// What a rule without this field matches.
fn left_out(what: &str) -> String {
    match what {
        "region" => {
            "leave it out: `on.localstack.region` is then written in, or every one matches where that \
             has none"
                .to_owned()
        }
        what => format!("leave the {what} out to match every one"),
    }
}

pub(super) fn region(path: &str, region: &str) -> Option<LintFinding> {
    let fits: Fits = |c| c.is_ascii_alphanumeric() || c == '-';
    spelling(path, "region", region, fits)
        .or_else(|| lower_case(path, "region", region))
        .or_else(|| {
            let zone = region.strip_suffix(|c: char| c.is_ascii_lowercase())?;
            (zone.contains('-') && zone.ends_with(|c: char| c.is_ascii_digit())).then(|| {
                LintFinding::new(
                    path.to_owned(),
                    format!("`{region}` is an availability zone, not a region"),
                    format!("write `{zone}`"),
                )
            })
        })
}

pub(super) fn service(path: &str, service: &str) -> Option<LintFinding> {
    let fits: Fits = |c| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let canonical = |name: &str| {
        let mut aliases = SERVICE_ALIASES.iter();
        aliases.find_map(|(alias, canonical)| (*alias == name).then_some(*canonical))
    };
    if let Some(canonical) = canonical(&service.to_ascii_lowercase()) {
        return Some(LintFinding::new(
            path.to_owned(),
            format!("LocalStack knows no service `{service}`"),
            format!("its name there is `{canonical}`"),
        ));
    }
    spelling(path, "service", service, fits).or_else(|| lower_case(path, "service", service))
}

pub(super) fn operation(path: &str, operation: &str) -> Option<LintFinding> {
    let wrong =
        |message: String, hint: String| Some(LintFinding::new(path.to_owned(), message, hint));
    if let Some((service, name)) = operation.split_once(':') {
        return wrong(
            format!("`{operation}` is a service and an operation in one"),
            format!("write `service: {service}` and `operation: {name}`"),
        );
    }
    let letters_and_digits = operation.chars().all(|c| c.is_ascii_alphanumeric());
    if letters_and_digits && operation.contains(|c: char| c.is_ascii_digit()) {
        return wrong(
            format!("the operation `{operation}` has digits, which the Chaos API refuses"),
            "it cannot be named there; a rule without `operation` hits all of the service"
                .to_owned(),
        );
    }
    if let Some(pascal) = pascal_case(operation) {
        return wrong(
            format!("the operation `{operation}` is not in AWS's own spelling"),
            format!("write `{pascal}`"),
        );
    }
    spelling(path, "operation", operation, |c| c.is_ascii_alphabetic())
}

pub(super) fn error_code(path: &str, code: &str) -> Option<LintFinding> {
    if code.contains('.') {
        return Some(LintFinding::new(
            path.to_owned(),
            format!("the error code `{code}` has dots, which the Chaos API refuses"),
            "only letters and digits can be injected; choose another code of that service"
                .to_owned(),
        ));
    }
    spelling(path, "error code", code, |c| c.is_ascii_alphanumeric())
}

/// `put_record`, `put-record` and `putRecord` as AWS writes them; `None` when nothing is to be done.
fn pascal_case(operation: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
    if operation.is_empty() || !operation.chars().all(plain) {
        return None;
    }
    let words = operation.split(['-', '_']);
    let pascal: String = words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect();
    (!pascal.is_empty() && pascal != operation).then_some(pascal)
}

/// The contract's patterns: at least one character, and only those that fit.
fn spelling(path: &str, what: &str, text: &str, fits: Fits) -> Option<LintFinding> {
    if text.is_empty() {
        return Some(LintFinding::new(
            path.to_owned(),
            format!("the {what} is empty"),
            left_out(what),
        ));
    }
    let bad = text.chars().find(|c| !fits(*c))?;
    let (message, hint) = match bad {
        '*' | '?' => (
            format!("the {what} `{text}` has a wildcard, and the Chaos API knows none"),
            format!("write one rule for each, or {}", left_out(what)),
        ),
        _ => (
            format!(
                "the {what} `{}` has a {bad:?}, which the Chaos API refuses",
                text.escape_debug()
            ),
            format!(
                "write the {what} as AWS does, in letters, digits and hyphens where it has them"
            ),
        ),
    };
    Some(LintFinding::new(path.to_owned(), message, hint))
}

/// How the server treats case is not documented: only the canonical one is sent.
fn lower_case(path: &str, what: &str, text: &str) -> Option<LintFinding> {
    let lower = text.to_ascii_lowercase();
    (lower != text).then(|| {
        LintFinding::new(
            path.to_owned(),
            format!("the {what} `{text}` has capital letters and may match nothing"),
            format!("write `{lower}`"),
        )
    })
}
