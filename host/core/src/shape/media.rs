//! Which media may reach a model: judged by their bytes as well as by what they are declared to be.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What kind of block or resource declares the media.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MediaKind {
    Image,
    Audio,
}

/// The type of base64 data, where it is the declared one, and one that carries no script. Parameters are dropped: they are text.
pub(super) fn allowed_type(kind: MediaKind, declared: &str, data: &str) -> Option<&'static str> {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let bytes = STANDARD.decode(data).ok()?;
    let types: &[&'static str] = match (kind, bytes.as_slice()) {
        (MediaKind::Image, [0xFF, 0xD8, 0xFF, ..]) => &["image/jpeg", "image/jpg"],
        (MediaKind::Image, [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..]) => &["image/png"],
        (MediaKind::Image, [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..]) => &["image/gif"],
        (MediaKind::Image, [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..]) => &["image/webp"],
        (MediaKind::Audio, [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..]) => {
            &["audio/wav", "audio/wave", "audio/x-wav", "audio/vnd.wave"]
        }
        (MediaKind::Audio, [b'I', b'D', b'3', ..] | [0xFF, 0xE2..=0xFF, ..]) => &["audio/mpeg", "audio/mp3"],
        (MediaKind::Audio, [b'O', b'g', b'g', b'S', ..]) => &["audio/ogg", "audio/opus", "audio/vorbis"],
        (MediaKind::Audio, [0x1A, 0x45, 0xDF, 0xA3, ..]) => &["audio/webm"],
        (MediaKind::Audio, [b'f', b'L', b'a', b'C', ..]) => &["audio/flac", "audio/x-flac"],
        _ => &[],
    };
    types.iter().find(|known| **known == essence).copied()
}

#[cfg(test)]
mod tests {
    use super::{
        MediaKind::{self, Audio, Image},
        allowed_type,
    };
    use base64::{Engine, engine::general_purpose::STANDARD};

    #[test]
    fn bytes_and_declaration_must_agree() {
        let cases: [(MediaKind, &str, &[u8], bool); 9] = [
            (Image, "image/png", b"\x89PNG\r\n\x1a\n....", true),
            (Image, "IMAGE/PNG; a=b", b"\x89PNG\r\n\x1a\n....", true),
            (Image, "image/jpeg", b"\x89PNG\r\n\x1a\n....", false),
            (Image, "image/png", b"<svg xmlns=...", false),
            (Image, "image/svg+xml", b"<svg xmlns=...", false),
            (Audio, "audio/wav", b"RIFF....WAVEfmt ", true),
            (Audio, "image/png", b"\x89PNG\r\n\x1a\n....", false),
            (Audio, "audio/mpeg", b"ID3.....", true),
            (Image, "image/gif", b"GIF89a..", true),
        ];
        for (kind, declared, bytes, allowed) in cases {
            assert_eq!(allowed_type(kind, declared, &STANDARD.encode(bytes)).is_some(), allowed, "{declared}");
        }
        assert_eq!(allowed_type(Image, "image/png", "iVBORw0KGgo=!!"), None);
        assert_eq!(allowed_type(Image, "IMAGE/PNG; x=obey", "iVBORw0KGgo="), Some("image/png"));
    }
}
