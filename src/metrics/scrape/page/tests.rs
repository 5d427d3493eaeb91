use proptest::prelude::*;

use super::*;

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn sample(pairs: &[(&str, &str)], value: f64, at_ms: Option<i64>) -> Sample {
    Sample {
        labels: labels(pairs),
        value,
        at_ms,
    }
}

fn words(page: &str, format: Format) -> String {
    match read(page.as_bytes(), format) {
        Ok(samples) => format!("{} samples", samples.len()),
        Err(problem) => problem.message,
    }
}

#[test]
fn a_text_page_is_read_as_prometheus_reads_it() {
    let page = "\
# HELP http_requests_total All of them \\\\ here.
# TYPE http_requests_total counter
 http_requests_total { code = \"200\" , method=\"a\\\"b\\\\c\\nd\\x,}{=\", } 1027 1395066363000
http_requests_total{code=\"500\",empty=\"\"}\t3

# just a comment
#TYPE not a type
nan NaN
up +Inf
down{} -inf -5
small 1e-3";
    let read = read(page.as_bytes(), Format::Text).expect("it is a page");
    let (nan, rest): (Vec<_>, Vec<_>) = read.into_iter().partition(|sample| sample.value.is_nan());
    assert_eq!(nan[0].labels, labels(&[("__name__", "nan")]));
    assert_eq!(
        rest,
        [
            sample(
                &[
                    ("__name__", "http_requests_total"),
                    ("code", "200"),
                    ("method", "a\"b\\c\nd\\x,}{="),
                ],
                1027.0,
                Some(1_395_066_363_000),
            ),
            sample(
                &[("__name__", "http_requests_total"), ("code", "500")],
                3.0,
                None
            ),
            sample(&[("__name__", "up")], f64::INFINITY, None),
            sample(&[("__name__", "down")], f64::NEG_INFINITY, Some(-5)),
            sample(&[("__name__", "small")], 0.001, None),
        ]
    );
}

#[test]
fn an_open_metrics_page_has_seconds_exemplars_units_and_an_end() {
    let page = "\
# TYPE job_seconds histogram
# UNIT job_seconds seconds
# HELP job_seconds How long.
job_seconds_bucket{le=\"0.1\"} 8 # {trace_id=\"KOO5\"} 0.067
job_seconds_bucket{le=\"+Inf\"} 9 12.5 # {} 9.8 1520879607.789
job_seconds_created 1520430000.123
# TYPE build info
build_info{version=\"1\"} 1
# EOF
";
    let expected = [
        sample(
            &[("__name__", "job_seconds_bucket"), ("le", "0.1")],
            8.0,
            None,
        ),
        sample(
            &[("__name__", "job_seconds_bucket"), ("le", "+Inf")],
            9.0,
            Some(12_500),
        ),
        sample(
            &[("__name__", "job_seconds_created")],
            1_520_430_000.123,
            None,
        ),
        sample(&[("__name__", "build_info"), ("version", "1")], 1.0, None),
    ];
    let read_page = |page: &str| read(page.as_bytes(), Format::OpenMetrics);
    assert_eq!(read_page(page), Ok(expected.to_vec()));
    assert_eq!(read_page(page.trim_end()), Ok(expected.to_vec()));
    assert_eq!(read_page("# EOF\n"), Ok(Vec::new()));
}

#[test]
fn a_line_that_breaks_the_text_format_is_named() {
    for (page, expected) in [
        ("a 1\nb", "line 2: `` is no number"),
        ("a 1\nb x", "line 2: `x` is no number"),
        ("a 0x1F", "line 1: `0x1F` is no number"),
        ("a 1_000", "line 1: `1_000` is no number"),
        ("a 1e999", "line 1: `1e999` is no number"),
        ("a -NaN", "line 1: `-NaN` is no number"),
        ("a 1\r\nb 2\r", "line 1: `1\\r` is no number"),
        ("a 1 2 3", "line 1: `3` is too much"),
        ("a 1 2.5", "line 1: `2.5` is no timestamp in milliseconds"),
        ("1a 1", "line 1: `1a 1` does not begin with a metric's name"),
        (
            "{a=\"b\"} 1",
            "line 1: `{a=\"b\"} 1` does not begin with a metric's name",
        ),
        (
            "<!doctype html>",
            "line 1: `<!doctype html>` does not begin with a metric's name",
        ),
        (
            "a{b=\"c\"",
            "line 1: `,` or `}` is missing after the label `b`",
        ),
        (
            "a{b=\"c} 1",
            "line 1: the value of the label `b` does not end on its line",
        ),
        (
            "a{b=\"c\\",
            "line 1: the value of the label `b` does not end on its line",
        ),
        (
            "a{b=c} 1",
            "line 1: the value of the label `b` is not quoted",
        ),
        ("a{b} 1", "line 1: `=` is missing after the label `b`"),
        (
            "a{b=\"1\" c=\"2\"} 1",
            "line 1: `,` or `}` is missing after the label `b`",
        ),
        (
            "a{b=\"1\",b=\"2\"} 1",
            "line 1: the label `b` is there twice",
        ),
        (
            "a{__name__=\"b\"} 1",
            "line 1: the label `__name__` is the name's",
        ),
        (
            "a{,} 1",
            "line 1: `,} 1` does not begin with a label's name",
        ),
        (
            "a{b:c=\"1\"} 1",
            "line 1: `=` is missing after the label `b`",
        ),
        ("# TYPE a b", "line 1: `b` of `a` is no type"),
        ("# TYPE a", "line 1: `` of `a` is no type"),
    ] {
        assert_eq!(words(page, Format::Text), expected, "{page:?}");
    }
    let latin = read(b"a 1\nb{c=\"\xe9\"} 1", Format::Text);
    let problem = latin.expect_err("it is Latin-1");
    assert_eq!(problem.message, "line 2: it is no UTF-8");
}

#[test]
fn a_line_that_breaks_open_metrics_is_named() {
    let cut = "the page was cut off: it does not end with `# EOF`";
    let comment = "line 1: OpenMetrics has no comments but TYPE, HELP, UNIT and EOF";
    for (page, expected) in [
        ("", "line 1: `` does not begin with a metric's name"),
        ("a 1\n", cut),
        (
            "a 1\n# EO",
            "line 2: OpenMetrics has no comments but TYPE, HELP, UNIT and EOF",
        ),
        ("# EOF\na 1\n", "line 2: something follows `# EOF`"),
        ("# EOF\n\n", "line 2: something follows `# EOF`"),
        ("# hello\n# EOF", comment),
        ("#  TYPE a gauge\n# EOF", comment),
        (
            "# TYPE a untyped\n# EOF",
            "line 1: `untyped` of `a` is no type",
        ),
        ("# HELP a\n# EOF", "line 1: HELP of `a` has no text"),
        (
            "# UNIT a_seconds bytes\n# EOF",
            "line 1: `a_seconds` does not end with its unit `bytes`",
        ),
        (
            "# UNIT seconds seconds\n# EOF",
            "line 1: `seconds` does not end with its unit `seconds`",
        ),
        ("a  1\n# EOF", "line 1: `` is no number"),
        (
            "a{b=\"c\"}1\n# EOF",
            "line 1: there is no space before the value",
        ),
        (
            "a{b=\"c\",} 1\n# EOF",
            "line 1: a comma follows the last label `b`",
        ),
        (
            "a{ b=\"c\"} 1\n# EOF",
            "line 1: ` b=\"c\"} 1` does not begin with a label's name",
        ),
        ("a 1 NaN\n# EOF", "line 1: `NaN` is no timestamp in seconds"),
        ("a 1 \n# EOF", "line 1: `` is no timestamp in seconds"),
        (
            "a 1 # {b=\"c\"}\n# EOF",
            "line 1: there is no space before the exemplar's value",
        ),
        ("a 1 # b\n# EOF", "line 1: ` # b` is too much"),
    ] {
        assert_eq!(words(page, Format::OpenMetrics), expected, "{page:?}");
    }
}

#[test]
fn a_page_and_its_labels_have_bounds() {
    let page = "a 1\n".repeat(MOST_SAMPLES);
    assert_eq!(words(&page, Format::Text), "200000 samples");
    let more = format!("{page}a 1\n");
    assert_eq!(
        words(&more, Format::Text),
        "the page has more than 200000 samples"
    );
    let long = format!("a{{b=\"{}\"}} 1", "x".repeat(8_193));
    assert_eq!(
        words(&long, Format::Text),
        "line 1: the label `b` is longer than 8192 bytes"
    );
    let many: String = (0..65).map(|number| format!("l{number}=\"\",")).collect();
    assert_eq!(
        words(&format!("a{{{many}}} 1"), Format::Text),
        "line 1: there are more than 64 labels"
    );
}

#[test]
fn the_content_type_decides_on_the_format() {
    let open = "Application/OpenMetrics-Text; version=1.0.0; charset=utf-8";
    assert_eq!(Format::announced_by(open), Format::OpenMetrics);
    for other in ["text/plain; version=0.0.4", "application/octet-stream", ""] {
        assert_eq!(Format::announced_by(other), Format::Text, "{other:?}");
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// A page as a well-behaved server writes it.
fn rendered(samples: &[Sample], format: Format) -> String {
    let mut page = String::new();
    for sample in samples {
        let others = sample.labels.iter().filter(|(name, _)| *name != "__name__");
        let others = others.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        let others = others.collect::<Vec<_>>().join(",");
        let (name, value) = (&sample.labels["__name__"], sample.value);
        page.push_str(&format!("{name}{{{others}}} {value}"));
        match (sample.at_ms, format) {
            (Some(at_ms), Format::Text) => page.push_str(&format!(" {at_ms}")),
            (Some(at_ms), Format::OpenMetrics) => {
                page.push_str(&format!(" {}", at_ms as f64 / 1_000.0));
            }
            (None, _) => {}
        }
        page.push('\n');
    }
    match format {
        Format::Text => page,
        Format::OpenMetrics => page + "# EOF\n",
    }
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let labels = prop::collection::btree_map("[a-z_][a-zA-Z0-9_]{0,6}", "[^\0]{1,8}", 0..4);
    let value = prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(-0.0)];
    let value = value.prop_filter("NaN is not equal to itself", |value| !value.is_nan());
    // Whole eighths of a second are exact in binary.
    let at_ms = prop::option::of((-1_000_000_i64..1_000_000).prop_map(|eighths| eighths * 125));
    ("[a-zA-Z_:][a-zA-Z0-9_:]{0,8}", labels, value, at_ms).prop_map(
        |(name, mut labels, value, at_ms)| {
            labels.insert("__name__".to_owned(), name);
            Sample {
                labels,
                value,
                at_ms,
            }
        },
    )
}

proptest! {
    #[test]
    fn what_was_rendered_is_read(samples in prop::collection::vec(any_sample(), 0..6)) {
        for format in [Format::Text, Format::OpenMetrics] {
            let page = rendered(&samples, format);
            prop_assert_eq!(read(page.as_bytes(), format), Ok(samples.clone()), "{}", page);
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in [Format::Text, Format::OpenMetrics] {
            // Only that it comes back matters here: what it says, the tables above hold.
            drop(read(&bytes, format));
        }
    }

    #[test]
    fn no_page_is_too_odd(page in "([a{}=\",# \\\\\t\n1.eTYPEOF+-]|# (TYPE|HELP|UNIT) |a\\{b=\"){0,40}") {
        for format in [Format::Text, Format::OpenMetrics] {
            drop(read(page.as_bytes(), format));
        }
    }

    #[test]
    fn an_open_metrics_page_that_was_cut_is_never_read(
        samples in prop::collection::vec(any_sample(), 1..4),
        part in 0.0..1.0,
    ) {
        let page = rendered(&samples, Format::OpenMetrics);
        let cut = ((page.len() - "\n".len()) as f64 * part) as usize;
        prop_assert!(read(&page.as_bytes()[..cut], Format::OpenMetrics).is_err());
    }
}
