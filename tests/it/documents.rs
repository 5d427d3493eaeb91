//! Loading of experiment documents: what loads, and what is said about the rest.

use chaos_gameday::plan::{Variables, load_experiment, read_source};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents");

#[test]
fn every_good_document_loads() {
    for name in ["product-example", "localstack-everything"] {
        let path = format!("{FIXTURES}/good/{name}.yaml");
        let source = read_source(path.as_ref()).expect("a readable fixture");
        let loaded = load_experiment(&source, &Variables::default());
        assert!(
            loaded.is_ok(),
            "{:?}",
            loaded.map_err(|error| error.problems().to_vec())
        );
    }
}
