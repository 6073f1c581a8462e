//! Checks of records in memory.

use std::ops::Range;

use toml::Spanned;

use super::Checker;
use super::register::Domain;
use crate::bits::{parse_bits, parse_bytes, show_bits, show_bytes};
use crate::error::ErrorKind;
use crate::model::{Enumeration, Member, MemberField, Record};
use crate::names::Case;
use crate::raw::{RawMember, RawRecord};

/// Largest record in bytes.
const MAX_RECORD_BYTES: u64 = 4096;

impl Checker {
    pub(super) fn record(&mut self, raw: &RawRecord, enums: &[Enumeration]) -> Record {
        let place = format!("record {}", raw.name.get_ref());
        let name = self.name(&raw.name, Case::Snake, &place);
        let doc = self.doc(&raw.doc, &place);
        let size = self.number(&raw.size, 4, MAX_RECORD_BYTES, &place);
        self.aligned(&raw.size, 4, &place);
        if raw.members.is_empty() {
            self.error(raw.name.span(), &place, ErrorKind::Empty("member"));
        }
        self.unique(raw.members.iter().map(|m| &m.name), &place);
        let mut taken: Vec<(Range<u64>, String)> = Vec::new();
        let mut members = Vec::new();
        for member in &raw.members {
            let place = format!("{place}, member {}", member.name.get_ref());
            let checked = self.member(member, enums, &place);
            let bytes = u64::from(checked.width / 8);
            if checked.offset.saturating_add(bytes) > size {
                let kind = ErrorKind::Overflow {
                    range: format!("the member at {:#x}", checked.offset),
                    end: size,
                };
                self.error(member.offset.span(), &place, kind);
            } else {
                let range = checked.offset..checked.offset + bytes;
                let before = taken.iter().map(|(range, name)| (range.clone(), name));
                self.no_overlap(&member.offset, &range, before, show_bytes, &place);
                taken.push((range, checked.name.clone()));
            }
            members.push(checked);
        }
        let mut reserved = Vec::new();
        for text in &raw.reserved {
            let range = self.reserved(text, parse_bytes, size, show_bytes, &mut taken, &place);
            reserved.extend(range);
        }
        let covered: Vec<_> = taken.into_iter().map(|(range, _)| range).collect();
        self.no_gap(raw.name.span(), covered, size, show_bytes, &place);
        members.sort_by_key(|m| m.offset);
        reserved.sort_by_key(|r| r.start);
        Record {
            name,
            size,
            reserved,
            doc,
            members,
        }
    }

    fn member(&mut self, raw: &RawMember, enums: &[Enumeration], place: &str) -> Member {
        let name = self.name(&raw.name, Case::Snake, place);
        let doc = self.doc(&raw.doc, place);
        let width = match raw.kind.get_ref().as_str() {
            "u32" => 32,
            "u64" => 64,
            other => {
                self.error(raw.kind.span(), place, ErrorKind::Width(other.to_owned()));
                32
            }
        };
        self.aligned(&raw.offset, u64::from(width / 8), place);
        if raw.fields.is_empty() {
            self.error(raw.name.span(), place, ErrorKind::Empty("field"));
        }
        self.unique(raw.fields.iter().map(|f| &f.name), place);
        let mut taken: Vec<(Range<u32>, String)> = Vec::new();
        let mut fields = Vec::new();
        let mut complete = true;
        for field in &raw.fields {
            let place = format!("{place}, field {}", field.name.get_ref());
            let name = self.name(&field.name, Case::Snake, &place);
            let doc = self.doc(&field.doc, &place);
            let Some(range) = self.bit_range(&field.bits, width, &place) else {
                // The gap that it leaves is not reported as another error.
                complete = false;
                continue;
            };
            let before = taken.iter().map(|(range, name)| (range.clone(), name));
            self.no_overlap(&field.bits, &range, before, show_bits, &place);
            let domain = Domain {
                enumeration: field.enumeration.as_ref(),
                min: field.min.as_ref(),
                max: field.max.as_ref(),
            };
            self.domain(&domain, range.len() as u32, enums, &place);
            taken.push((range.clone(), name.clone()));
            fields.push(MemberField {
                name,
                lsb: range.start,
                width: range.len() as u32,
                enumeration: field.enumeration.as_ref().map(|e| e.get_ref().clone()),
                min: field.min.as_ref().map(|m| *m.get_ref()),
                max: field.max.as_ref().map(|m| *m.get_ref()),
                unit: field.unit.as_ref().map(|u| u.get_ref().clone()),
                doc,
            });
        }
        let mut reserved = Vec::new();
        for text in &raw.reserved {
            reserved.extend(self.reserved(text, parse_bits, width, show_bits, &mut taken, place));
        }
        if complete {
            let covered = taken.into_iter().map(|(range, _)| range).collect();
            self.no_gap(raw.name.span(), covered, width, show_bits, place);
        }
        fields.sort_by_key(|f| f.lsb);
        reserved.sort_by_key(|r| r.start);
        Member {
            name,
            offset: *raw.offset.get_ref(),
            width,
            reserved,
            doc,
            fields,
        }
    }

    /// Reads a reserved range and adds it to the taken ranges.
    fn reserved<N: PartialOrd + Copy + Into<u64>>(
        &mut self,
        text: &Spanned<String>,
        parse: impl Fn(&str) -> Option<Range<N>>,
        end: N,
        show: impl Fn(&Range<N>) -> String,
        taken: &mut Vec<(Range<N>, String)>,
        place: &str,
    ) -> Option<Range<N>> {
        let Some(range) = parse(text.get_ref()) else {
            let kind = ErrorKind::Range(text.get_ref().clone());
            self.error(text.span(), place, kind);
            return None;
        };
        if range.end > end {
            let kind = ErrorKind::Overflow {
                range: show(&range),
                end: end.into(),
            };
            self.error(text.span(), place, kind);
            return None;
        }
        let before = taken.iter().map(|(range, name)| (range.clone(), name));
        self.no_overlap(text, &range, before, show, place);
        taken.push((range.clone(), "a reserved range".to_owned()));
        Some(range)
    }

    /// Reports every range of `0..end` that nothing covers.
    fn no_gap<N: Ord + Copy + Default>(
        &mut self,
        span: Range<usize>,
        mut covered: Vec<Range<N>>,
        end: N,
        show: impl Fn(&Range<N>) -> String,
        place: &str,
    ) {
        covered.sort_by_key(|range| range.start);
        let mut at = N::default();
        for range in covered.into_iter().chain([end..end]) {
            if range.start > at {
                let kind = ErrorKind::Gap(show(&(at..range.start)));
                self.error(span.clone(), place, kind);
            }
            at = at.max(range.end);
        }
    }
}
