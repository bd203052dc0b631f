"""Cron expressions as the files that each system starts the gardener by."""

import plistlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.garden.night.schedule import (
    crontab_line,
    in_crontab,
    in_launchd_plist,
    in_systemd_units,
    launchd_plist,
    on_calendar,
    parse,
    systemd_units,
    with_line,
)

COMMAND = ("/opt/my env/bin/python", "-m", "hydramem", "--store", "/data/100%", "garden")


@pytest.mark.parametrize(
    ("expression", "calendar"),
    [
        ("0 3 * * *", ("*-*-* 03:00:00",)),
        ("*/20 * * * *", ("*-*-* *:00,20,40:00",)),
        ("0 0 1 jan,jul *", ("*-01,07-01 00:00:00",)),
        ("0 4 * * 7", ("Sun *-*-* 04:00:00",)),
        ("5/25 4 1 * 0", ("*-*-01 04:05,30,55:00", "Sun *-*-* 04:05,30,55:00")),
    ],
)
def test_systemd_is_told_the_same_times(expression: str, calendar: tuple[str, ...]) -> None:
    assert on_calendar(parse(expression)) == calendar


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "60 3 * * *",
        "0 3 31 feb *",
        "*/0 3 * * *",
        "@daily",
        "0 3 * * *; rm -rf /",
        "٣ 3 * * *",
    ],
)
def test_what_is_no_cron_expression_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInputError, match="schedule"):
        parse(expression)


@given(st.text(alphabet="0123456789*/,- jan", max_size=14))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        times = parse(text)
    except InvalidInputError:
        return
    assert on_calendar(times)


def test_units_hold_the_command_quoted() -> None:
    units = systemd_units(parse("0 3 * * *"), COMMAND, name="hydramem-garden-1")
    assert list(units) == ["hydramem-garden-1.service", "hydramem-garden-1.timer"]
    assert (
        "ExecStart='/opt/my env/bin/python' -m hydramem --store /data/100%% garden\n"
        in units["hydramem-garden-1.service"]
    )
    assert "OnCalendar=*-*-* 03:00:00\nPersistent=true\n" in units["hydramem-garden-1.timer"]


def test_launchd_starts_on_the_day_or_the_weekday() -> None:
    told = plistlib.loads(launchd_plist(parse("0 3 1 * sun"), COMMAND, name="hydramem-garden-1"))
    assert told["ProgramArguments"] == list(COMMAND)
    assert told["StartCalendarInterval"] == [
        {"Minute": 0, "Hour": 3, "Day": 1},
        {"Minute": 0, "Hour": 3, "Weekday": 0},
    ]
    assert plistlib.loads(launchd_plist(parse("* * * * *"), COMMAND, name="n"))["StartCalendarInterval"] == [
        {}
    ]
    with pytest.raises(InvalidInputError, match="launchd"):
        launchd_plist(parse("*/2 */2 * 1,2,3 *"), COMMAND, name="n")


def test_a_crontab_keeps_what_others_wrote() -> None:
    line = crontab_line(parse("0 3 * * *"), COMMAND, name="hydramem-garden-1")
    assert line.endswith(r"--store /data/100\% garden # hydramem-garden-1")
    others = "MAILTO=me\n0 1 * * * backup # hydramem-garden-11\n"
    once = with_line(others, line, name="hydramem-garden-1")
    assert once == f"{others}{line}\n"
    assert with_line(once, line, name="hydramem-garden-1") == once
    assert with_line(once, None, name="hydramem-garden-1") == others


def test_what_is_installed_is_read_back() -> None:
    times = parse("0 3 * * sun")
    command = "'/opt/my env/bin/python' -m hydramem --store /data/100% garden"
    table = f"MAILTO=ada\n# hydramem-garden-0\n{crontab_line(times, COMMAND, name='hydramem-garden-1')}\n"
    assert in_crontab(table, "hydramem-garden-") == {"hydramem-garden-1": ("0 3 * * sun", command)}
    units = systemd_units(times, COMMAND, name="n")
    assert in_systemd_units(units["n.timer"], units["n.service"]) == ("0 3 * * sun", command)
    assert in_systemd_units("[Timer]\n", "") == ("", "")
    assert in_launchd_plist(launchd_plist(times, COMMAND, name="n")) == ("0 3 * * sun", command)
    assert in_launchd_plist(b"\x00not a list") == ("", "")
