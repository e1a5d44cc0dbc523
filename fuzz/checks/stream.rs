//! Streams of records and of paths: what is read is read the same once it is written again, in either framing.

use workspacetrack::stream::paths::{EndMark, read_names, read_paths};
use workspacetrack::stream::record::Record;
use workspacetrack::stream::recordset::{Outcome, RecordSet};
use workspacetrack::stream::wire::{Frame, Reader, Step, write_end};
use workspacetrack::stream::{Framing, quote};

const FRAMINGS: [Framing; 2] = [Framing::Line, Framing::Nul];

fn records(text: &[u8], framing: Framing, frame: Frame) {
    let Ok((mut reader, header)) = Reader::open(text, framing, frame) else { return };
    let mut records = Vec::new();
    loop {
        match reader.step() {
            Ok(Step::Record(record)) => records.push(record),
            Ok(Step::End) => break,
            Ok(Step::Failed(..)) | Err(_) => return,
        }
    }
    for other in FRAMINGS {
        // Lines that we do not know are passed on as they are, and may hold the other one's end of an item.
        if other != framing && !header.unknown.is_empty() {
            continue;
        }
        let mut out = Vec::new();
        header.write(&mut out, other);
        for record in &records {
            record.write(&mut out, other);
        }
        write_end(&mut out, other);
        let (mut again, header_again) = Reader::open(&*out, other, Frame::Required).unwrap();
        assert_eq!((&header_again.root, header_again.cap_bytes), (&header.root, header.cap_bytes));
        for record in &records {
            let Ok(Step::Record(found)) = again.step() else { panic!("a record is missing") };
            assert_eq!(&found, record);
        }
        assert!(matches!(again.step(), Ok(Step::End)));
        // Without its end it is no stream.
        let cut = out.len() - 1;
        if let Ok((mut reader, _)) = Reader::open(&out[..cut], other, Frame::Required) {
            while let Ok(step) = reader.step() {
                assert!(!matches!(step, Step::End), "a stream that was cut short passed for a whole one");
            }
        }
    }
    let (reader, header) = Reader::open(text, framing, frame).unwrap();
    if let Ok(Outcome::Complete(set)) = RecordSet::read(reader, header) {
        assert!(set.records.is_sorted_by(|a, b| a.path < b.path));
    }
}

pub(crate) fn check(input: &[u8]) {
    for framing in FRAMINGS {
        for frame in [Frame::Required, Frame::Optional] {
            records(input, framing, frame);
        }
        for mark in [EndMark::Required, EndMark::Optional] {
            if let Ok(names) = read_names(input, framing, mark) {
                for name in names {
                    assert_eq!(framing.decode(&framing.encode(&name)).as_deref(), Some(&*name));
                }
            }
            let _ = read_paths(input, framing, mark);
        }
        let _ = Record::parse(input, framing);
    }
    let quoted = quote::c_quote(input);
    assert!(!quoted.contains(&b'\n'));
    assert_eq!(quote::c_unquote(&quoted).as_deref(), Some(input));
    let _ = quote::c_unquote(input);
}
