//! Variables: where their values come from, and what they can and cannot do to a document.

use std::collections::BTreeMap;

use chaos_gameday::plan::{Variables, load_experiment, parse_flag, read_variable_file};

use super::{rendered, small, source};

#[test]
fn flags_win_over_files_and_files_over_the_environment_and_all_over_defaults() {
    let source = small(
        "It holds.",
        "${A:-default} ${B:-default} ${C:-default} ${D:-default}",
    );
    let map = |names: &[&str], value: &str| -> BTreeMap<String, String> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), value.to_owned()))
            .collect()
    };
    let variables = Variables::default()
        .with_flag("A", "flag")
        .with_file("first.yaml", map(&["A", "B"], "overridden"))
        .with_file("second.yaml", map(&["A", "B", "UNUSED"], "file"))
        .with_environment(map(&["A", "B", "C", "HOME"], "environment"));
    let loaded = load_experiment(&source, &variables).expect("it loads");
    assert_eq!(
        loaded.experiment.hypothesis,
        "flag file environment default"
    );
    insta::assert_json_snapshot!(loaded.used, @r##"
    {
      "A": {
        "value": "flag",
        "source": "flag"
      },
      "B": {
        "value": "file",
        "source": {
          "file": "second.yaml"
        }
      },
      "C": {
        "value": "environment",
        "source": "environment"
      },
      "D": {
        "value": "default",
        "source": "default"
      }
    }
    "##);
}

#[test]
fn a_filled_in_number_is_a_number_and_text_never_becomes_structure() {
    let source = small(r#"8080/"}"#, r#"8080/", rate: "${RATE}", body: "${BODY}"}"#);
    let variables = Variables::default()
        .with_flag("RATE", "12.5")
        .with_flag("BODY", "1}, slos: [], x: {\n- *a\n${RATE}");
    let loaded = load_experiment(&source, &variables).expect("it loads");
    let traffic = loaded.experiment.metrics.traffic.expect("traffic");
    assert_eq!(traffic.rate, 12.5);
    assert_eq!(
        traffic.body.as_deref(),
        Some("1}, slos: [], x: {\n- *a\n${RATE}")
    );
}

#[test]
fn a_filled_in_number_is_text_where_text_is_wanted_and_an_escape_stays_text() {
    let source = small("sandbox", "${ENVIRONMENT}").text;
    let source = self::source(&source.replace("It holds.", "$${NOT} a variable, $5"));
    let variables = Variables::default().with_flag("ENVIRONMENT", "2026");
    let loaded = load_experiment(&source, &variables).expect("it loads");
    assert_eq!(loaded.experiment.environment, "2026");
    assert_eq!(loaded.experiment.hypothesis, "${NOT} a variable, $5");
    assert_eq!(loaded.used.len(), 1);
}

#[test]
fn a_flag_that_fills_nothing_is_an_error_that_names_the_nearest() {
    let source = small("30s", r#""${HOLD:-30s}""#);
    let variables = Variables::default().with_flag("HOLDS", "1s");
    let error = load_experiment(&source, &variables).expect_err("a typo");
    assert_eq!(
        rendered(&error).trim(),
        "\
× experiment.yaml cannot be used: 1 problem

Error: 
  × `--var HOLDS=…` fills nothing in this document
  help: did you mean `HOLD`? the document's variables are `HOLD`"
    );
}

#[test]
fn flags_are_a_name_and_a_value() {
    assert_eq!(
        parse_flag("A_1=b=c"),
        Ok(("A_1".to_owned(), "b=c".to_owned()))
    );
    assert_eq!(parse_flag("A="), Ok(("A".to_owned(), String::new())));
    for bad in ["A", "=b", "1A=b", "A-B=c", " A=b", ""] {
        assert!(parse_flag(bad).is_err(), "{bad}");
    }
}

#[test]
fn files_of_variables_keep_values_as_they_are_written() {
    let values =
        read_variable_file(&source("A: 1.10\nB: \"x: y\"\nC: 007\nD: off\n")).expect("a good file");
    let pairs: Vec<_> = values
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(pairs, ["A=1.10", "B=x: y", "C=007", "D=off"]);
    assert_eq!(
        read_variable_file(&source("# nothing\n")).map(|values| values.len()),
        Ok(0)
    );
    for bad in [
        "- A\n",
        "A: [1]\n",
        "A: 1\nA: 2\n",
        "a-b: 1\n",
        "A: 1\n---\nB: 2\n",
        "A: &x [*x]\n",
        "just text",
    ] {
        assert!(read_variable_file(&source(bad)).is_err(), "{bad}");
    }
}
