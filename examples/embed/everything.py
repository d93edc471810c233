#!/usr/bin/env python3
"""perch from Python, through ctypes: a plugin, a tool and an agent in one host.

    python3 everything.py [NAME]

runs the plugin examples/plugins/deploy-python (and answers its questions), calls the
tool examples/tools/bash/hello, and asks the agent examples/agents/stream.yaml. With
PERCH_LIBRARY another libperch.so.0 is loaded, with PERCH_GUARD another perch-guard.

Every structure of perch that begins with `size` may be declared up to the last member
that is needed: its size says how much of it there is. What the library hands out is
only read, so that its declaration may end early, too.
"""
import ctypes as c
import os
import pathlib
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
perch = c.CDLL(os.environ.get("PERCH_LIBRARY", "libperch.so.0"))
perch.perch_tool_code_name.restype = c.c_char_p
TEXT, FLAG, POINTER = c.c_char_p, c.c_bool, c.c_void_p
TEXTS = c.POINTER(c.c_char_p)


def structure(name, *members):
    """A structure; one that begins with `size` gets it, all other members are zero."""
    def init(self, **values):
        if members[0][0] == "size":
            values["size"] = c.sizeof(self)
        c.Structure.__init__(self, **values)
    return type(name, (c.Structure,), {"_fields_": list(members), "__init__": init})


def callback(*arguments):
    return c.CFUNCTYPE(None, *arguments)


def texts(*words):
    """A list that ends with NULL."""
    return (c.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)


Err = structure("Err", ("code", c.c_int), ("line", c.c_uint), ("column", c.c_uint),
                ("stage", TEXT), ("text", c.c_char * 512))
HostOptions = structure("HostOptions", ("size", c.c_size_t), ("guard", c.c_int),
                        ("guard_path", TEXT))
Text = structure("Text", ("data", TEXT), ("len", c.c_size_t))


def check(result, err):
    if result < 0:
        raise OSError(-result, err.text.decode())


def make(function, *arguments):
    """Calls a function of perch that makes an object: f(…, &object, &err)."""
    made, err = POINTER(), Err()
    check(function(*arguments, c.byref(made), c.byref(err)), err)
    return made


def wait_for(host, ended):
    """Runs the host's loop. Callbacks are called in here and nowhere else."""
    while not ended:
        check(perch.perch_host_wait(host, -1), Err())


# ---- a plugin ------------------------------------------------------------------------

PROMPT, CONFIRM, SELECT, MULTI_SELECT = range(4)
OUTPUT, LOG, PROGRESS, PROGRESS_DONE = range(4)
Question = structure("Question", ("number", c.c_uint64), ("kind", c.c_int), ("message", Text))
Shown = structure("Shown", ("kind", c.c_int), ("text", Text))
RunEnd = structure("RunEnd", ("success", FLAG), ("exit_code", c.c_int))
RunEvents = structure(
    "RunEvents", ("size", c.c_size_t), ("show", callback(POINTER, POINTER, c.POINTER(Shown))),
    ("ask", callback(POINTER, POINTER, c.POINTER(Question))), ("withdraw", POINTER),
    ("stderr_line", POINTER), ("end", callback(POINTER, POINTER, c.POINTER(RunEnd))))
RunOptions = structure(
    "RunOptions", ("size", c.c_size_t), ("command", TEXT), ("args", TEXTS), ("plugin_dir", TEXT),
    ("grants", c.c_uint), ("no_sandbox", FLAG), ("project_dir", TEXT), ("asking", c.c_int),
    ("answers", TEXTS), ("prompt_timeout_ns", c.c_uint64), ("exec_timeout_max_ns", c.c_uint64),
    ("line_limit", c.c_size_t), ("shell", TEXT), ("trace", TEXT), ("events", c.POINTER(RunEvents)))


def run_plugin(host, directory, command, answer):
    ended = []

    def show(_run, _data, shown):
        if shown.contents.kind == OUTPUT:
            print("plugin:", shown.contents.text.data.decode().rstrip())

    def ask(run, _data, asked):
        question, err = asked.contents, Err()
        print("plugin asks:", question.message.data.decode())
        number = c.c_uint64(question.number)
        if question.kind == CONFIRM:
            check(perch.perch_fledge_answer_confirm(POINTER(run), number, True, c.byref(err)), err)
        elif question.kind == PROMPT:
            check(perch.perch_fledge_answer_text(POINTER(run), number, answer.encode(),
                                                 c.c_size_t(len(answer.encode())),
                                                 c.byref(err)), err)
        else:
            perch.perch_fledge_decline(POINTER(run), number)

    kinds = dict(RunEvents._fields_)
    events = RunEvents(show=kinds["show"](show), ask=kinds["ask"](ask),
                       end=kinds["end"](lambda _r, _d, end: ended.append(end.contents.exit_code)))
    options = RunOptions(command=command.encode(), args=texts("--fast"),
                         plugin_dir=os.fsencode(directory), events=c.pointer(events))
    run = make(perch.perch_fledge_run_start, host, c.byref(options))
    wait_for(host, ended)
    perch.perch_fledge_run_free(run)
    return ended[0]


# ---- a tool --------------------------------------------------------------------------

Spec = structure("Spec", ("size", c.c_size_t), ("name", TEXT), ("command", TEXT))
Request = structure("Request", ("size", c.c_size_t), ("tool", TEXT), ("input", TEXT))
Result = structure("Result", ("code", c.c_int), ("message", Text), ("stage", TEXT),
                   ("plugin_id", Text), ("plugin_version", Text), ("tool", Text),
                   ("request_id", Text), ("responded", FLAG), ("output", Text))
perch.perch_tool_call_result.restype = c.POINTER(Result)


def call_tool(host, command, name, tool, json):
    spec = Spec(name=name.encode(), command=os.fsencode(command))
    binding = make(perch.perch_tool_binding_new, c.byref(spec))
    request = Request(tool=tool.encode(), input=json.encode())
    call = make(perch.perch_tool_call_run, host, binding, c.byref(request))
    result = perch.perch_tool_call_result(call).contents
    print("tool:", perch.perch_tool_code_name(result.code).decode(),
          (result.output.data or result.message.data).decode())
    code = result.code
    perch.perch_tool_call_free(call)
    perch.perch_tool_binding_free(binding)
    return code


# ---- an agent ------------------------------------------------------------------------

TurnEnd = structure("TurnEnd", ("success", FLAG), ("exit_code", c.c_int))
TurnEvents = structure(
    "TurnEvents", ("size", c.c_size_t), ("started", POINTER),
    ("partial", callback(POINTER, POINTER, TEXT, c.c_size_t)), ("session", POINTER),
    ("warning", POINTER), ("error", callback(POINTER, POINTER, TEXT, TEXT)),
    ("reply", callback(POINTER, POINTER, TEXT, c.c_size_t)), ("permission", POINTER),
    ("end", callback(POINTER, POINTER, c.POINTER(TurnEnd))))
TurnOptions = structure(
    "TurnOptions", ("size", c.c_size_t), ("profile", POINTER), ("message", TEXT),
    ("message_len", c.c_size_t), ("session_id", TEXT), ("session_name", TEXT), ("from", TEXT),
    ("attachments", POINTER), ("attachment_count", c.c_size_t), ("cwd", TEXT), ("env", TEXTS),
    ("has_timeout", FLAG), ("timeout_ns", c.c_uint64), ("no_stream", FLAG),
    ("allow_shell_message", FLAG), ("line_limit", c.c_size_t), ("total_limit", c.c_size_t),
    ("events", c.POINTER(TurnEvents)))


def ask_agent(host, path, message):
    ended = []
    kinds = dict(TurnEvents._fields_)
    events = TurnEvents(
        partial=kinds["partial"](lambda _t, _d, text, _l: print("agent …", text.decode())),
        reply=kinds["reply"](lambda _t, _d, text, _l: print("agent:", text.decode())),
        error=kinds["error"](lambda _t, _d, _c, text: print("agent failed:", text.decode())),
        end=kinds["end"](lambda _t, _d, end: ended.append(end.contents.exit_code)))
    profile = make(perch.perch_agent_profile_load, os.fsencode(path))
    options = TurnOptions(profile=profile, message=message.encode(),
                          message_len=len(message.encode()), events=c.pointer(events))
    turn = make(perch.perch_agent_turn_start, host, c.byref(options))
    wait_for(host, ended)
    perch.perch_agent_turn_free(turn)
    perch.perch_agent_profile_free(profile)
    return ended[0]


def main(name="staging"):
    guard = os.environ.get("PERCH_GUARD")
    options = HostOptions(guard_path=guard.encode() if guard else None)
    host = make(perch.perch_host_new, c.byref(options))
    codes = [
        run_plugin(host, EXAMPLES / "plugins/deploy-python", "deploy", name),
        call_tool(host, EXAMPLES / "tools/bash/hello", "example.hello", "hello.greet",
                  '{"name": "Python"}'),
        ask_agent(host, EXAMPLES / "agents/stream.yaml", "hello from Python"),
    ]
    perch.perch_host_free(host)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
