//! Requests to bytes.

use crate::draw::Draws;
use crate::escape::escape;
use crate::program::{Form, Op, Program, Request};
use crate::value::{Scene, Texts, decimal};

use super::answer::Flight;

/// Memory that is kept from request to request.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The row drawn from each pool.
    pub(super) rows: Vec<u64>,
    variables: Texts,
    extracted: Texts,
    stack: Vec<u8>,
    body: Vec<u8>,
}

impl Scratch {
    pub(super) fn new(pools: usize) -> Self {
        Self { rows: vec![0; pools], ..Self::default() }
    }

    /// Works out what the request needs and appends its bytes.
    ///
    /// # Errors
    /// In words, when a header field's value would hold a control character.
    pub(super) fn write(
        &mut self,
        program: &Program,
        request: &Request,
        draws: &mut Draws,
        unix_ns: i64,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let Self { rows, variables, extracted, stack, body } = self;
        variables.clear(program.variables.len());
        for &index in &request.variables {
            stack.clear();
            let mut scene =
                Scene { tables: &program.tables, rows, variables, extracted, draws, unix_ns };
            let json = program.variables[usize::from(index)].push(&mut scene, stack);
            variables.set(index, stack, json);
        }
        let Form::Written { head, body: of_body } = &request.form else { return Ok(()) };
        let mut scene =
            Scene { tables: &program.tables, rows, variables, extracted, draws, unix_ns };
        body.clear();
        write_ops(request, of_body, &mut scene, 0, stack, body)?;
        write_ops(request, head, &mut scene, body.len(), stack, out)?;
        out.extend_from_slice(body);
        Ok(())
    }

    /// Works out what the answer is compared with. The request was written just before.
    pub(super) fn ask(
        &mut self,
        program: &Program,
        request: &Request,
        draws: &mut Draws,
        unix_ns: i64,
        flight: &mut Flight,
    ) {
        let Self { rows, variables, extracted, stack, .. } = self;
        flight.asked.clear(request.wanted.len());
        for (value, index) in request.wanted.iter().zip(0..) {
            stack.clear();
            let mut scene =
                Scene { tables: &program.tables, rows, variables, extracted, draws, unix_ns };
            let json = value.push(&mut scene, stack);
            flight.asked.set(index, stack, json);
        }
    }
}

fn write_ops(
    request: &Request,
    ops: &[Op],
    scene: &mut Scene<'_>,
    body_bytes: usize,
    stack: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    for op in ops {
        match op {
            Op::Text(bytes) => out.extend_from_slice(bytes),
            Op::Length => decimal(body_bytes as i64, out),
            Op::Value(value, place) => {
                stack.clear();
                let json = value.push(scene, stack);
                escape(stack, json, *place, out).map_err(|control| {
                    format!(
                        "a header field of `{}` would hold byte 0x{:02x}, which ends a line or is \
                         no text; it comes from a placeholder",
                        request.name, control.0
                    )
                })?;
            }
        }
    }
    Ok(())
}
