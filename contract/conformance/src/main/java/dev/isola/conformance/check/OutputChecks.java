package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.exec.CapturedOutput;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.BasicFeature;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Checks how output is retained, counted and truncated. */
public final class OutputChecks {
  private static final int FLOOD = 50 * 1024 * 1024;

  @Check("X1")
  public void countIsExactBeyondTheLimit(CheckContext check) {
    CapturedOutput out =
        run(check, "head -c 3000000 /dev/zero", new OutputLimit(1000, 500)).stdout();
    Expect.equal(3_000_000L, out.total(), "the count");
    Expect.equal(1000, out.head().size(), "the size of the head");
    Expect.equal(500, out.tail().size(), "the size of the tail");
    Expect.equal(2_998_500L, out.omitted(), "what was dropped");
    Expect.that(out.truncated(), "it says that it is truncated");
  }

  @Check("X1")
  public void headAndTailAreTheTwoEnds(CheckContext check) {
    String all = numbers(20_000);
    CapturedOutput out = run(check, "seq 1 20000", new OutputLimit(100, 200)).stdout();
    Expect.equal(all.substring(0, 100), out.head().utf8(), "the head");
    Expect.equal(all.substring(all.length() - 200), out.tail().utf8(), "the tail");
    Expect.equal((long) all.length(), out.total(), "the count");
  }

  @Check("X1")
  public void exactlyTheLimitIsNotTruncated(CheckContext check) {
    CapturedOutput out = run(check, "printf 0123456789", new OutputLimit(6, 4)).stdout();
    Expect.that(!out.truncated(), "ten bytes fit in ten");
    Expect.equal("0123456789", out.text(), "the text");
    CapturedOutput more = run(check, "printf 0123456789x", new OutputLimit(6, 4)).stdout();
    Expect.equal(1L, more.omitted(), "what was dropped of eleven");
  }

  @Check("X1")
  public void limitZeroOnlyCounts(CheckContext check) {
    CapturedOutput out = run(check, "head -c 100000 /dev/zero", new OutputLimit(0, 0)).stdout();
    Expect.equal(100_000L, out.total(), "the count");
    Expect.equal(0, out.head().size() + out.tail().size(), "what was kept");
    Expect.that(out.truncated(), "it says that it is truncated");
  }

  @Check("X1")
  public void everyByteValueIsPreserved(CheckContext check) {
    String octal =
        IntStream.range(0, 256)
            .mapToObj(value -> String.format(Locale.ROOT, "\\%03o", value))
            .collect(Collectors.joining());
    byte[] expected = new byte[256];
    IntStream.range(0, 256).forEach(value -> expected[value] = (byte) value);
    ExecResult result = check.run("printf '" + octal + "'");
    Expect.equal(expected, result.stdout().head().toArray(), "stdout");
    ExecResult other = check.run("printf '" + octal + "' >&2");
    Expect.equal(expected, other.stderr().head().toArray(), "stderr");
  }

  @Check("X1")
  public void noNewlineIsAddedOrTaken(CheckContext check) {
    Expect.equal("x", check.output("printf x"), "one letter");
    Expect.equal("\n\n\n", check.output("printf '\\n\\n\\n'"), "three newlines");
    Expect.equal("a\r\nb", check.output("printf 'a\\r\\nb'"), "a carriage return");
    Expect.equal(" \t ", check.output("printf ' \\t '"), "blanks");
  }

  @Check("X1")
  public void commandWithoutOutputHasEmptyOutput(CheckContext check) {
    ExecResult result = check.run("true");
    Expect.equal(0L, result.stdout().total() + result.stderr().total(), "the count");
    Expect.equal("", result.stdout().text() + result.stderr().text(), "the text");
    Expect.that(!result.stdout().truncated(), "it is not truncated");
  }

  @Check("X1")
  public void channelsAreCountedSeparately(CheckContext check) {
    ExecResult result =
        run(
            check,
            "head -c 2000000 /dev/zero & head -c 1000000 /dev/zero >&2; wait",
            new OutputLimit(10, 0));
    Expect.equal(2_000_000L, result.stdout().total(), "the count of stdout");
    Expect.equal(1_000_000L, result.stderr().total(), "the count of stderr");
  }

  @Check("X1")
  public void characterSplitAcrossWritesIsDecoded(CheckContext check) {
    Expect.equal(
        "caf\u00e9 \u20ac",
        check.output("printf 'caf\\303'; printf '\\251 \\342'; printf '\\202'; printf '\\254'"),
        "the text");
  }

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void floodIsCountedExactly(CheckContext check) {
    ExecResult result =
        run(check, "head -c " + FLOOD + " /dev/zero; echo end", OutputLimit.DEFAULT);
    Expect.equal(FLOOD + 4L, result.stdout().total(), "the count");
    byte[] tail = result.stdout().tail().toArray();
    Expect.equal("end\n", new String(tail, tail.length - 4, 4, US_ASCII), "the last four bytes");
    Expect.that(result.succeeded(), "it ended by itself: " + result.exit());
  }

  @Check("X1")
  public void manyLinesArriveCompleteAndInOrder(CheckContext check) {
    Expect.equal(numbers(20_000), check.output("seq 1 20000"), "twenty thousand lines");
  }

  @Check("X1")
  public void manySmallWritesArriveCompleteAndInOrder(CheckContext check) {
    Expect.equal(
        numbers(3_000),
        check.output("seq 1 3000 | while read x; do echo $x; done"),
        "three thousand writes");
  }

  @Check("X1")
  public void outputBeforeAKillIsKept(CheckContext check) {
    ExecResult result = check.run("seq 1 1000; echo last; kill -9 $$");
    Expect.equal(numbers(1000) + "last\n", result.stdout().text(), "stdout");
  }

  @Check("X1")
  public void outputRedirectedToTheOtherChannelStaysThere(CheckContext check) {
    ExecResult result = check.run("cat /no/such/file 2>&1; echo moved >&2");
    Expect.contains(result.stdout().text(), "/no/such/file", "stdout");
    Expect.equal("moved\n", result.stderr().text(), "stderr");
  }

  private static ExecResult run(CheckContext check, String shell, OutputLimit limit) {
    return check.sandbox().run(Command.shell(shell), limit);
  }

  private static String numbers(int last) {
    return IntStream.rangeClosed(1, last)
        .mapToObj(number -> number + "\n")
        .collect(Collectors.joining());
  }
}
