//! Patterns of tool names: `*` stands for any text, `?` for one character.
//!
//! Tool names are ASCII; in other text `?` stands for one byte.

/// Whether a name fits a pattern. Linear but for its stars: the last star alone is ever tried again.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut in_name) = (0, 0);
    let mut star = None;
    while let Some(&byte) = name.get(in_name) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, in_name));
                at += 1;
            }
            Some(&wanted) if wanted == b'?' || wanted == byte => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((after, taken)) => {
                    star = Some((after, taken + 1));
                    at = after;
                    in_name = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        for (pattern, name, wanted) in [
            ("delete_*", "delete_file", true),
            ("delete_*", "undelete_file", false),
            ("*_file", "read_file", true),
            ("*a*b", "xaxbxab", true),
            ("*a*b", "xaxbxa", false),
            ("r??d", "read", true),
            ("r??d", "rd", false),
            ("*", "", true),
            ("", "x", false),
            ("read", "read", true),
        ] {
            assert_eq!(fits(pattern, name), wanted, "{pattern} on {name}");
        }
    }
}
