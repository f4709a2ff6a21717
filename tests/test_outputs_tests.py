"""Test runners, checkers and CI: counts, what failed, and what only looks like it."""

# ruff: noqa: E501 - lines stand as tools print them
from __future__ import annotations

import pytest

from tests.printing import picked, told

NOTHING = [
    ("cat tests/test_shop.py", "# ==== 3 passed in 0.12s ====\ndef test_x(): ...\n"),
    ("pytest --collect-only -q", "tests/test_shop.py::test_pay\n\n1 test collected in 0.02s\n"),
    ("pytest -q -k nothing", "3 deselected in 0.01s\n"),
    ("git log -3", "commit 1\n\n    2 passed in 3.0s\n"),
    ("cargo test --doc 2>&1 | tail -3",
     "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"),
    ("go test ./...", "ok  \tshop/cart\t0.1s [no tests to run]\n?   \tshop/db\t[no test files]\n"),
    ("python -m unittest", "\nNO TESTS RAN\n"),
    ("echo done", "2 of 3 tests left\n"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output"), NOTHING)
def test_no_run_of_tests(command: str, output: str):
    assert told(command, output, kind="tests") == []


# command, output, runner, (passed, failed, errors, skipped), duration, failing
RUNS = [
    ("cd shop && pytest -q 2>&1 | tail -4",
     "FAILED tests/test_cart.py::test_total[two items] - assert 3 == 4\n"
     "ERROR tests/test_db.py - ImportError: no driver\n"
     "1 failed, 41 passed, 2 skipped, 3 warnings, 1 error in 5.31s\n",
     "pytest", (41, 1, 1, 2), "5.31s", ["tests/test_cart.py::test_total[two items]", "tests/test_db.py"]),
    ("uv run pytest tests", "==== 12 passed in 65.20s (0:01:05) ====\n", "pytest", (12, 0, 0, 0), "65.20s", []),
    ("make check", "3 passed, 1 xfailed in 0.10s\n", "pytest", (3, 0, 0, 0), "0.10s", []),
    ("python -m unittest discover",
     "FAIL: test_pay (shop.tests.Pay.test_pay)\n---\nRan 9 tests in 0.214s\n\nFAILED (failures=1, skipped=2)\n",
     "unittest", (6, 1, 0, 2), "0.214s", ["shop.tests.Pay.test_pay"]),
    ("cargo test",
     "test cart::adds ... ok\ntest cart::sums ... FAILED\n"
     "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n"
     "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
     "cargo", (5, 1, 0, 1), "", ["cart::sums"]),
    ("cargo nextest run",
     "        FAIL [   0.004s] shop cart::sums\n"
     "     Summary [   0.052s] 3 tests run: 2 passed, 1 failed, 1 skipped\n",
     "nextest", (2, 1, 0, 1), "0.052s", ["shop cart::sums"]),
    ("go test ./... 2>&1", "ok  \tshop/cart\t0.067s\n--- FAIL: TestPay (0.00s)\nFAIL\tshop/pay\t0.002s\nFAIL\n",
     "go", (1, 1, 0, 0), "", ["TestPay"]),
    ("go test -v ./cart", "--- PASS: TestSum (0.00s)\n--- SKIP: TestBig (0.00s)\nPASS\nok  \tshop/cart\t0.011s\n",
     "go", (1, 0, 0, 1), "0.011s", []),
    ("npx jest", "FAIL a.test.js\n  ● cart › sums\n\nTest Suites: 1 failed, 2 passed, 3 total\n"
     "Tests:       1 failed, 2 skipped, 7 passed, 10 total\nTime:        2.5 s\n",
     "jest", (7, 1, 0, 2), "2.5 s", ["cart › sums"]),
    ("pnpm vitest run", "\x1b[31m FAIL \x1b[39m src/a.spec.ts > cart > sums\n Test Files  1 failed | 2 passed (3)\n"
     "\x1b[2m      Tests \x1b[22m 1 failed | 8 passed | 1 skipped (10)\n   Duration  511ms (transform 43ms)\n",
     "vitest", (8, 1, 0, 1), "511ms", ["src/a.spec.ts > cart > sums"]),
    ("node --test", "not ok 2 - sums\n# tests 3\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 93.2\n",
     "node", (2, 1, 0, 0), "93.2 ms", ["sums"]),
    ("npm test", "  12 passing (34ms)\n  1 pending\n  1 failing\n\n  1) cart\n       sums up:\n     AssertionError: no\n",
     "mocha", (12, 1, 0, 1), "34ms", ["cart sums up"]),
    ("bun test", " 12 pass\n 1 fail\n 30 expect() calls\nRan 13 tests across 2 files. [45.00ms]\n",
     "bun", (12, 1, 0, 0), "45.00ms", []),
    ("deno test", "ok | 12 passed | 0 failed | 1 ignored (34ms)\n", "deno", (12, 0, 0, 1), "34ms", []),
    ("bundle exec rspec", "10 examples, 1 failure, 2 pending\n\nrspec ./spec/cart_spec.rb:12 # Cart sums\n",
     "rspec", (7, 1, 0, 2), "", ["./spec/cart_spec.rb:12"]),
    ("vendor/bin/phpunit", "OK (12 tests, 30 assertions)\n", "phpunit", (12, 0, 0, 0), "", []),
    ("bin/rails test", "12 runs, 30 assertions, 1 failures, 0 errors, 2 skips\n", "minitest", (9, 1, 0, 2), "", []),
    ("mvn -q test", "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] Tests run: 12, Failures: 1, Errors: 2, Skipped: 1\n",
     "maven", (8, 1, 2, 1), "", []),
    ("ctest", "90% tests passed, 1 tests failed out of 10\n\n\t  3 - sums (Failed)\n", "ctest", (9, 1, 0, 0), "", ["sums"]),
    ("dotnet test", "Passed!  - Failed:     0, Passed:    12, Skipped:     1, Total:    13, Duration: 34 ms - Shop.dll (net8.0)\n",
     "dotnet", (12, 0, 0, 1), "34 ms", []),
    ("./build/shop_test", "[  PASSED  ] 11 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.Sums\n",
     "googletest", (11, 1, 0, 0), "", ["Cart.Sums"]),
    ("mise run test:bats", "[test:bats] 1..3\n[test:bats] ok 1 adds\n[test:bats] not ok 2 sums\n[test:bats] ok 3 big # skip no disk\n",
     "tap", (1, 1, 0, 1), "", ["sums"]),
    ("prove t", "t/a.t .. ok\nAll tests successful.\nFiles=2, Tests=12,  1 wallclock secs ( 0.02 usr)\nResult: PASS\n", "prove", (12, 0, 0, 0), "1", []),
    ("swift test", "Executed 12 tests, with 1 failure (0 unexpected) in 0.034 (0.036) seconds\n", "xctest", (11, 1, 0, 0), "0.034", []),
    ("mix test", "12 tests, 1 failure\n", "exunit", (11, 1, 0, 0), "", []),
    ("./gradlew test", "Shop > sums FAILED\n12 tests completed, 1 failed, 2 skipped\n", "gradle", (9, 1, 0, 2), "", ["Shop > sums"]),
    ("npx playwright test", "Running 4 tests using 2 workers\n  1 failed\n    [chromium] › a.spec.ts:3:1 › pays ───\n  3 passed (4.1s)\n",
     "playwright", (3, 1, 0, 0), "4.1s", ["[chromium] › a.spec.ts:3:1 › pays"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "output", "runner", "counts", "took", "failing"), RUNS, ids=[r[0] for r in RUNS]
)
def test_a_run_of_tests(
    command: str, output: str, runner: str, counts: tuple[int, ...], took: str, failing: list[str]
):
    (fact,) = told(command, output, failed=bool(failing), kind="tests")
    assert picked(fact, "runner", "duration", "failing") == (runner, took, failing)
    assert picked(fact, "passed", "failed", "errors", "skipped") == counts
    assert fact.fields["ok"] == (counts[1] + counts[2] == 0)
    assert fact.quote in output


def test_a_cut_output_of_several_binaries_gives_no_count():
    line = "test result: ok. 20 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n"
    (fact,) = told("cargo test 2>&1 | tail -5", line, kind="tests")
    assert picked(fact, "ok", "passed") == (True, 0)
    (fact,) = told(
        "go test ./... | tail -2", "ok  \tshop/a\t0.1s\nok  \tshop/b\t0.1s\n", kind="tests"
    )
    assert picked(fact, "ok", "passed") == (True, 0)


def test_packages_are_not_tests():
    (fact,) = told("go test ./...", "ok  \tshop/a\t0.1s\nok  \tshop/b\t0.1s\n", kind="tests")
    assert picked(fact, "passed", "of") == (2, "packages")


CHECKS = [
    ("mypy src", "Success: no issues found in 34 source files\n", True, 0),
    ("mypy src", "a.py:3: error: bad type\nFound 3 errors in 2 files (checked 34 source files)\n", False, 3),
    ("ruff check .", "All checks passed!\n", True, 0),
    ("npx tsc --noEmit", "src/a.ts(3,4): error TS2304: Cannot find name 'x'.\n", False, 1),
    ("npx eslint .", "✖ 12 problems (3 errors, 9 warnings)\n", False, 3),
    ("cargo build", "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 2.34s\n", True, 0),
    ("cargo build", "error[E0432]: unresolved import `x`\nerror: could not compile `shop` (lib) due to 2 previous errors\n", False, 2),
    ("golangci-lint run", "0 issues.\n", True, 0),
    ("go vet ./...", "./pay.go:12:3: undefined: y\n", False, 1),
    ("make -j8", "cart.c:3:1: error: expected ';'\nmake: *** [Makefile:4: cart.o] Error 1\n", False, 1),
    ("./gradlew build", "BUILD SUCCESSFUL in 3s\n", True, 0),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "ok", "errors"), CHECKS)
def test_a_verdict(command: str, output: str, ok: bool, errors: int):
    (fact,) = told(command, output, failed=not ok, kind="check")
    assert picked(fact, "ok", "errors") == (ok, errors)


JOBS = "✓ build in 1m5s (ID 11)\n{} lint in 2m (ID 12)\n"
CI = [
    ("gh pr checks 7", "lint\tfail\t1m2s\thttps://ci.example/1\t\ntests\tpass\t2m\thttps://ci.example/2\t\n",
     [("checks of #7", "fail", "1 fail, 1 pass (lint)", "https://ci.example/1")]),
    ("gh run watch 99", "* fix/cart ci shop/shop#7 · 99\n\nJOBS\n" + JOBS.format("*")
     + "✓ fix/cart ci shop/shop#7 · 99\n\nJOBS\n" + JOBS.format("✓"),
     [("ci on fix/cart", "pass", "2 pass", "")]),
    ("gh run view 99", "X main ci · 99\n\nJOBS\n" + JOBS.format("X"), [("ci on main", "fail", "1 pass, 1 fail (lint)", "")]),
    ("gh run list -L 3", "completed\tsuccess\tFix cart\tCI\tmain\tpush\t99\t1m\t2026-01-02T03:04:05Z\n"
     "completed\tfailure\tOld\tCI\tmain\tpush\t98\t1m\t2026-01-01T03:04:05Z\n", [("CI on main", "pass", "", "")]),
    ("gh pr checks", "All checks were successful\n0 cancelled, 0 failing, 12 successful, 1 skipped, and 0 pending checks\n",
     [("checks", "pass", "12 pass, 1 skipped", "")]),
    ("glab ci status", "(success) • 00m 34s\ttest\t\tunit\n\nPipeline state: success\n", [("pipeline", "pass", "", "")]),
    ("gh pr view 7", "title:\tFix cart\nstate:\tOPEN\n", []),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "expected"), CI)
def test_ci(command: str, output: str, expected: list[tuple[str, ...]]):
    facts = told(command, output, failed="\tfail" in output, kind="ci")
    assert [picked(f, "name", "status", "counts", "url") for f in facts] == expected
