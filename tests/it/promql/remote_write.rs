//! Hands samples to a Prometheus with their exact times, stale markers included, by its remote-write
//! protocol (version 1: Protocol Buffers in the block format of Snappy).

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::series::{Labels, Point};

/// The NaN that Prometheus takes for "this series ends here".
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// Longest piece of plain bytes that Snappy takes with two bytes of length.
const PIECE: usize = 65_536;

/// Sends every sample. All have to lie within an hour, or the server refuses the older ones.
pub async fn push(server: &str, series: &[(Labels, Vec<Point>)]) {
    let url = format!("{server}/api/v1/write");
    let clients = Clients::new().expect("clients");
    let request = clients
        .http(&url)
        .post(&url)
        .header("Content-Encoding", "snappy")
        .header("Content-Type", "application/x-protobuf")
        .header("X-Prometheus-Remote-Write-Version", "0.1.0")
        .body(snappy(&write_request(series)));
    let answer = request.send().await.expect("an answer");
    let status = answer.status();
    let text = answer.text().await.unwrap_or_default();
    assert!(status.is_success(), "{status}: {text}");
}

fn write_request(series: &[(Labels, Vec<Point>)]) -> Vec<u8> {
    let mut message = Vec::new();
    for (labels, points) in series {
        let mut one = Vec::new();
        for (name, value) in labels {
            let mut label = Vec::new();
            field(&mut label, 1, name.as_bytes());
            field(&mut label, 2, value.as_bytes());
            field(&mut one, 1, &label);
        }
        for point in points {
            let bits = point.value.map_or(STALE, f64::to_bits);
            let mut sample = vec![1 << 3 | 1];
            sample.extend(bits.to_le_bytes());
            sample.push(2 << 3);
            varint(&mut sample, u64::try_from(point.at_ms).expect("after 1970"));
            field(&mut one, 2, &sample);
        }
        field(&mut message, 1, &one);
    }
    message
}

/// A field of bytes, with its number and length.
fn field(message: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    message.push(number << 3 | 2);
    varint(message, bytes.len() as u64);
    message.extend(bytes);
}

fn varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

/// Plain bytes in Snappy's clothes: every piece is a literal.
fn snappy(bytes: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    varint(&mut block, bytes.len() as u64);
    for piece in bytes.chunks(PIECE) {
        let last = u16::try_from(piece.len() - 1).expect("at most 65,536 bytes");
        block.push(61 << 2);
        block.extend(last.to_le_bytes());
        block.extend(piece);
    }
    block
}
