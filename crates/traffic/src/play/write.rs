//! Writes requests as bytes.

use model::random::Draws;

use crate::LONGEST_REQUEST;
use crate::escape::escape;
use crate::pool::Drawn;
use crate::program::{Form, Op, Program, Request};
use crate::value::{Scene, Texts, decimal};

use super::cookies::Jar;
use super::responses::Flight;

/// Memory that is kept from request to request.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    variables: Texts,
    stack: Vec<u8>,
    body: Vec<u8>,
}

/// The context of a request that is written.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) program: &'a Program,
    /// The row drawn from each pool.
    pub(super) drawn: &'a Drawn,
    pub(super) extracted: &'a Texts,
    /// The session's cookies, if it is one.
    pub(super) jar: Option<&'a Jar>,
    pub(super) draws: Draws,
    pub(super) unix_ns: i64,
}

impl Setting<'_> {
    fn scene<'s>(&'s mut self, variables: &'s Texts) -> Scene<'s> {
        let Self { program, drawn, extracted, draws, unix_ns, .. } = self;
        let pools = &program.pools;
        Scene { pools, drawn, variables, extracted, draws, unix_ns: *unix_ns }
    }
}

impl Scratch {
    /// Computes the values that the request needs and appends its bytes.
    ///
    /// # Errors
    /// In words, when a header field's value would hold a control character.
    pub(super) fn write(
        &mut self,
        setting: &mut Setting<'_>,
        request: &Request,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let Self { variables, stack, body } = self;
        variables.clear(setting.program.variables.len());
        for &index in &request.variables {
            stack.clear();
            let value = &setting.program.variables[usize::from(index)];
            let json = value.push(&mut setting.scene(variables), stack);
            variables.set(index, stack, json);
        }
        let Form::Written { head, body: of_body } = &request.form else { return Ok(()) };
        body.clear();
        let jar = setting.jar;
        let mut scene = setting.scene(variables);
        write_ops(request, of_body, &mut scene, (0, jar), stack, body)?;
        write_ops(request, head, &mut scene, (body.len(), jar), stack, out)?;
        if out.len() + body.len() > LONGEST_REQUEST {
            let bytes = out.len() + body.len();
            let name = &request.name;
            return Err(format!("a request of `{name}` has {bytes} bytes; 1 GiB is the most"));
        }
        out.extend_from_slice(body);
        Ok(())
    }

    /// Computes the values that the response is compared with. The request was written just before.
    pub(super) fn compute_wanted(
        &mut self,
        setting: &mut Setting<'_>,
        request: &Request,
        flight: &mut Flight,
    ) {
        let Self { variables, stack, .. } = self;
        flight.computed.clear(request.wanted.len());
        for (value, index) in request.wanted.iter().zip(0..) {
            stack.clear();
            let json = value.push(&mut setting.scene(variables), stack);
            flight.computed.set(index, stack, json);
        }
    }
}

fn write_ops(
    request: &Request,
    ops: &[Op],
    scene: &mut Scene<'_>,
    (body_bytes, jar): (usize, Option<&Jar>),
    stack: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    for op in ops {
        match op {
            Op::Text(bytes) => out.extend_from_slice(bytes),
            Op::Length => decimal(body_bytes as i64, out),
            Op::Cookies => jar.iter().for_each(|jar| jar.write(out)),
            Op::FurtherCookies => jar.iter().for_each(|jar| jar.write_further(out)),
            Op::Value(value, place) => {
                stack.clear();
                let json = value.push(scene, stack);
                escape(stack, json, *place, out).map_err(|control| {
                    format!(
                        "a header field of `{}` would hold byte 0x{:02x}, which ends a line or is \
                         not text; it comes from a placeholder",
                        request.name, control.0
                    )
                })?;
            }
        }
    }
    Ok(())
}
