//! Loading of experiment documents: what loads, and what is said about the rest.
//!
//! A fixture in `bad/` says in its first line why it is bad: `shape` (the schema sees it too),
//! `meaning` (only the decoder sees it) or `yaml` (it is no tree that a schema could be held against).
//! What a reader sees is in `bad/NAME.snap`.

use std::fs;
use std::path::{Path, PathBuf};

use chaos_gameday::plan::{
    DocumentError, Source, Variables, experiment_schema, load_experiment, read_source,
};
use miette::{GraphicalReportHandler, GraphicalTheme};
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents");

/// Every document of a folder, by name.
fn fixtures(folder: &str) -> Vec<(String, Source)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(format!("{FIXTURES}/{folder}"))
        .expect("a folder of fixtures")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    paths.sort();
    let fixture = |path: &Path| {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = read_source(path).expect("a readable fixture").text;
        let source = Source {
            name: format!("{name}.yaml"),
            text,
        };
        (name, source)
    };
    paths.iter().map(|path| fixture(path)).collect()
}

fn source(text: &str) -> Source {
    Source {
        name: "experiment.yaml".to_owned(),
        text: text.to_owned(),
    }
}

/// What a reader without colours sees on 80 columns.
fn rendered(error: &DocumentError) -> String {
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(80)
        .render_report(&mut shown, error)
        .expect("writing into a String");
    shown
}

#[test]
fn every_good_document_loads() {
    for (name, source) in fixtures("good") {
        if let Err(error) = load_experiment(&source, &Variables::default()) {
            panic!("{name}\n{}", rendered(&error));
        }
    }
}

#[test]
fn every_bad_document_is_answered_as_recorded() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{FIXTURES}/bad"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, source) in fixtures("bad") {
        let error = load_experiment(&source, &Variables::default())
            .err()
            .unwrap_or_else(|| panic!("{name} loads"));
        settings.bind(|| insta::assert_snapshot!(name.as_str(), rendered(&error)));
    }
}

/// The document read by somebody else's parser, as an editor would.
fn as_json(source: &Source) -> Option<Value> {
    let mut document: serde_yaml::Value = serde_yaml::from_str(&source.text).ok()?;
    document.apply_merge().ok()?;
    serde_json::to_value(document).ok()
}

#[test]
fn the_schema_takes_what_loads_and_refuses_every_wrong_shape() {
    let schema = jsonschema::validator_for(&experiment_schema()).expect("a valid schema");
    for (name, source) in fixtures("good") {
        let document = as_json(&source).expect("good YAML");
        let errors: Vec<_> = schema
            .iter_errors(&document)
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
    for (name, source) in fixtures("bad") {
        let reason = source.text.split(':').next().unwrap_or_default().to_owned();
        let valid = as_json(&source).map(|document| schema.is_valid(&document));
        match reason.as_str() {
            "# shape" => assert_eq!(valid, Some(false), "{name}"),
            "# meaning" => assert_eq!(valid, Some(true), "{name}"),
            "# yaml" => {}
            other => panic!("{name} does not say why it is bad: {other}"),
        }
    }
}
