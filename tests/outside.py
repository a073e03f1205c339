"""The outside formats as JSON Schemas, after the consumers' own documentation."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **optional},
    }


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


GRADESCOPE = _object(
    {"score": {"type": "number"}, "tests": _list(_object(
        {"name": _TEXT, "score": {"type": "number"}, "max_score": {"type": "number"}},
        status={"enum": ["passed", "failed"]}, number=_TEXT, output=_TEXT,
        output_format={"enum": ["text", "html", "simple_format", "md", "ansi"]},
        tags=_list(_TEXT), visibility=_VISIBILITY, extra_data={"type": "object"}))},
    execution_time={"type": "integer", "minimum": 0}, output=_TEXT, output_format=_TEXT,
    visibility=_VISIBILITY, stdout_visibility=_VISIBILITY, extra_data={"type": "object"},
    leaderboard=_list({"type": "object"}),
)  # fmt: skip

GITHUB_CLASSROOM = _object(
    {"version": {"const": 1}, "status": {"enum": ["pass", "fail", "error"]},
     "max_score": {"type": "integer", "minimum": 1}, "tests": _list(_object(
         {"name": _TEXT, "status": {"enum": ["pass", "fail", "error"]},
          "score": {"type": "number"}, "message": _TEXT, "test_code": _TEXT, "filename": _TEXT,
          "line_no": {"type": "integer"}, "duration": {"type": "number"}}), minItems=1)},
)  # fmt: skip

_COUNT = {"type": "integer", "minimum": 0}
CLASSROOM50 = _object(
    {"schema": {"const": "classroom50/result/v1"}, "classroom": _TEXT, "assignment": _TEXT,
     "assignment_type": _TEXT, "owner": _TEXT, "submission": _TEXT, "commit": _TEXT,
     "release": _TEXT, "review": _TEXT,
     "datetime": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
     "graded_at": _TEXT, "score": _COUNT, "max-score": _COUNT, "tests": _list(_object(
         {"test-name": _TEXT, "passed": {"type": "boolean"}, "score": _COUNT,
          "max-score": _COUNT}))},
)  # fmt: skip

PRAIRIELEARN = _object(
    {"gradable": {"const": True}, "score": {"type": "number", "minimum": 0, "maximum": 1},
     "message": _TEXT, "output": _TEXT, "format_errors": _list(_TEXT), "images": _list({}),
     "tests": _list(_object(
         {"name": _TEXT, "description": _TEXT, "points": {"type": "number"},
          "max_points": {"type": "number"}, "message": _TEXT, "output": _TEXT,
          "images": _list({})}))},
)  # fmt: skip

_CAUSE = _object(
    {"rationale": _TEXT, "help": {"type": ["string", "null"]}},
    expected={}, actual={}, error={},
)  # fmt: skip
CHECK50 = _object(
    {"slug": _TEXT, "version": _TEXT, "results": _list(_object(
        {"name": _TEXT, "description": _TEXT, "passed": {"type": ["boolean", "null"]},
         "log": _list(_TEXT), "cause": {"oneOf": [{"type": "null"}, _CAUSE]},
         "data": {"type": "object"}, "dependency": {"type": ["string", "null"]}}))},
)  # fmt: skip

SARIF = _object(
    {"version": {"const": "2.1.0"}, "runs": _list(_object(
        {"tool": _object({"driver": _object(
            {"name": _TEXT}, version=_TEXT, rules=_list(_object(
                {"id": _TEXT}, shortDescription=_object({"text": _TEXT}))))}),
         "results": _list(_object(
             {"message": _object({"text": {"type": "string", "minLength": 1}}), "ruleId": _TEXT},
             level={"enum": ["none", "note", "warning", "error"]},
             locations=_list(_object({"physicalLocation": _object(
                 {"artifactLocation": _object({"uri": _TEXT})},
                 region=_object({"startLine": {"type": "integer", "minimum": 1}}))}))))}))},
    **{"$schema": _TEXT},
)  # fmt: skip
