//! Sending what nobody decided on does not compile (T2).

#[test]
fn what_must_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
