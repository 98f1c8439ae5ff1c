package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.provider.SpecFeature;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Checks commands: modes, environment, folders, users, exit codes. */
public final class ExecChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Variables that a sandbox may set itself, to any value. */
  private static final Set<String> EVERYBODYS =
      Set.of(
          "PATH",
          "HOME",
          "PWD",
          "OLDPWD",
          "SHLVL",
          "_",
          "LANG",
          "LANGUAGE",
          "TERM",
          "USER",
          "LOGNAME",
          "SHELL",
          "HOSTNAME",
          "TZ",
          "TMPDIR");

  @Check("X1")
  public void resultDescribesTheCommand(CheckContext check) {
    ExecResult result = check.run(Command.shell("echo out; echo err >&2; exit 7"));
    Expect.equal("out\n", result.stdout().text(), "stdout");
    Expect.equal("err\n", result.stderr().text(), "stderr");
    Expect.equal(new Exit.Exited(7), result.exit(), "the exit");
    Expect.equal("echo out; echo err >&2; exit 7", result.command(), "the command");
    Expect.that(result.duration().isPositive(), "the duration is positive: " + result.duration());
    Expect.that(!result.timedOut() && !result.succeeded(), "it neither timed out nor succeeded");
  }

  @Check("X1")
  public void durationIsMeasured(CheckContext check) {
    Duration took = check.run(Command.argv("sleep", "1")).duration();
    Expect.that(took.toMillis() >= 900, "a sleep of one second takes about a second: " + took);
    Expect.that(took.compareTo(TIMEOUT) < 0, "it does not take much longer: " + took);
  }

  @Check("X3")
  public void nonzeroExitIsAResult(CheckContext check) {
    for (int code : List.of(0, 1, 2, 7, 126, 127, 128, 255)) {
      ExecResult result = check.run("exit " + code);
      Expect.equal(new Exit.Exited(code), result.exit(), "the exit");
      Expect.equal(code, result.exitCode(), "the exit code");
    }
  }

  @Check("X3")
  public void deathBySignalIsAResult(CheckContext check) {
    ExecResult killed = check.run("kill -9 $$");
    Expect.equal(new Exit.Signaled(Signal.KILL), killed.exit(), "the exit after kill -9");
    Expect.equal(137, killed.exitCode(), "the code that a shell reports");
    Expect.equal(
        new Exit.Signaled(Signal.TERM), check.run("kill -15 $$").exit(), "the exit after kill -15");
  }

  @Check("X3")
  public void missingProgramInAShellIsTheShellsExitCode(CheckContext check) {
    ExecResult result = check.run("no-such-program-of-isola");
    Expect.equal(new Exit.Exited(127), result.exit(), "the exit of a shell without the program");
    Expect.contains(result.stderr().text(), "no-such-program-of-isola", "the message of the shell");
  }

  @Check("X2")
  public void shellModeUsesAShell(CheckContext check) {
    Expect.equal("3\n", check.output("WORD=abc; printf $WORD | wc -c").replace(" ", ""), "a pipe");
    Expect.equal("yes\n", check.output("false || echo yes"), "an alternative");
  }

  @Check("X2")
  public void argumentsOfAShellCommandAreQuoted(CheckContext check) {
    ExecResult result =
        check.run(Command.shell("printf '[%s]'", "a b", "$HOME", "it's", "*", ";", "\"q\"", ""));
    Expect.equal("[a b][$HOME][it's][*][;][\"q\"][]", result.stdout().text(), "the arguments");
  }

  @Check("X2")
  public void argvIsTakenLiterally(CheckContext check) {
    ExecResult result =
        check.run(
            Command.argv("printf", "[%s]", "a b", "$HOME", "`id`", "*", "; exit 3", "'", "\\"));
    Expect.equal("[a b][$HOME][`id`][*][; exit 3]['][\\]", result.stdout().text(), "the arguments");
    Expect.that(result.succeeded(), "the semicolon is not interpreted");
  }

  @Check("X2")
  public void emptyArgumentsArePreserved(CheckContext check) {
    Expect.equal(
        "[][x][]",
        check.run(Command.argv("printf", "[%s]", "", "x", "")).stdout().text(),
        "the arguments");
  }

  @Check("X2")
  public void anyCharacterMayBeInAnArgument(CheckContext check) {
    String text = "h\u00e9llo \u65e5\u672c\u8a9e \ud83e\udd8a\ttab\nline two\r\u0001\u007f";
    Expect.equal(text, check.run(Command.argv("printf", "%s", text)).stdout().text(), "in argv");
    Expect.equal(text, check.run(Command.shell("printf '%s'", text)).stdout().text(), "in a shell");
  }

  @Check("X2")
  public void argumentOfAHundredKilobytes(CheckContext check) {
    String text = "0123456789".repeat(10_000);
    ExecResult result = check.run(Command.argv("printf", "%s", text));
    Expect.that(result.succeeded(), "it runs: " + result.exit());
    Expect.equal(text, result.stdout().text(), "the argument");
  }

  @Check("X2")
  public void thousandsOfArguments(CheckContext check) {
    List<String> args = Collections.nCopies(5_000, "word");
    String text = check.run(Command.argv("echo", args)).stdout().text();
    Expect.equal(String.join(" ", args) + "\n", text, "the arguments");
  }

  @Check("X1")
  public void stdoutAndStderrAreKeptApart(CheckContext check) {
    ExecResult result = check.run("echo 1; echo a >&2; echo 2; echo b >&2; echo 3");
    Expect.equal("1\n2\n3\n", result.stdout().text(), "stdout");
    Expect.equal("a\nb\n", result.stderr().text(), "stderr");
  }

  @Check("X4")
  public void withoutStdinItReadsEndOfFileAtOnce(CheckContext check) {
    ExecResult result = check.run(Command.shell("cat; echo end").withTimeout(TIMEOUT));
    Expect.equal("end\n", result.stdout().text(), "stdout of a command that reads");
    Expect.that(!result.timedOut(), "it does not wait for input");
  }

  @Check("X4")
  public void environmentOfTheCommandOverridesTheSpec(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec.env("KEPT", "spec").env("CHANGED", "spec"));
    Command show = Command.shell("printf '%s|%s|%s' \"$KEPT\" \"$CHANGED\" \"$ADDED\"");
    Map<String, String> more = Map.of("CHANGED", "command", "ADDED", "a=b c\nd");
    Expect.equal(
        "spec|command|a=b c\nd", sandbox.run(show.withEnv(more)).stdout().text(), "with it");
    Expect.equal("spec|spec|", sandbox.run(show).stdout().text(), "the next command, without");
  }

  @Check("X4")
  public void environmentOfTheServerIsNotInherited(CheckContext check) {
    Map<String, String> ours = System.getenv();
    List<String> distinctive =
        ours.keySet().stream()
            .filter(name -> !EVERYBODYS.contains(name) && !name.startsWith("LC_"))
            .filter(name -> !ours.getOrDefault(name, "").isBlank())
            .sorted()
            .toList();
    if (distinctive.isEmpty()) {
      throw check.notRun("this process has no distinctive environment variables");
    }
    List<String> lines = check.run(Command.argv("env")).stdout().text().lines().toList();
    for (String name : distinctive) {
      String first = ours.getOrDefault(name, "").lines().findFirst().orElse("");
      Expect.that(!lines.contains(name + "=" + first), name + " of the server is not inherited");
    }
  }

  @Check("X4")
  public void programsAreFoundWithoutAPathOfTheCallers(CheckContext check) {
    Expect.that(!check.output("echo $PATH").isBlank(), "there is a PATH");
    Expect.that(check.run(Command.argv("true")).succeeded(), "a program is found by its name");
  }

  @Check("X4")
  public void cwdOfTheCommandIsWhereItRuns(CheckContext check) {
    check.sandbox().files().makeFolder("/workspace/some/folder", 0755);
    check.run(Command.argv("touch", "made").withCwd("/workspace/some/folder"));
    Expect.that(check.sandbox().files().exists("some/folder/made"), "it worked in the folder");
    check.run(Command.argv("touch", "made"));
    Expect.that(check.sandbox().files().exists("/workspace/made"), "the next one in the workspace");
  }

  @Check("X4")
  public void relativeCwdStartsAtTheWorkingFolder(CheckContext check) {
    check.sandbox().files().writeText("some/here", "found", UTF_8);
    Expect.equal(
        "found",
        check.run(Command.argv("cat", "here").withCwd("some")).stdout().text(),
        "the file");
  }

  @Check("X4")
  public void missingCwdIsAnInvalidRequest(CheckContext check) {
    Command command = Command.argv("true").withCwd("/workspace/nowhere");
    SandboxException e = Expect.thrown("run", () -> check.run(command), InvalidRequest.class);
    Expect.contains(String.valueOf(e.getMessage()), "nowhere", "the message");
  }

  @Check("X4")
  public void cwdThatIsAFileIsAnInvalidRequest(CheckContext check) {
    check.sandbox().files().writeText("file", "x", UTF_8);
    Command command = Command.argv("true").withCwd("/workspace/file");
    Expect.thrown("run", () -> check.run(command), InvalidRequest.class);
  }

  @Check("X3")
  public void unknownProgramIsCommandNotFound(CheckContext check) {
    for (String program : List.of("no-such-program-of-isola", "/no/such/program", "./nor-this")) {
      SandboxException e =
          Expect.thrown(
              program, () -> check.run(Command.argv(program, "x")), ErrorCode.COMMAND_NOT_FOUND);
      Expect.contains(String.valueOf(e.getMessage()), program, "the message");
    }
  }

  @Check("X3")
  public void plainFileIsCommandNotExecutable(CheckContext check) {
    check.sandbox().files().writeText("plain.txt", "just text", UTF_8);
    Expect.thrown(
        "run", () -> check.run(Command.argv("./plain.txt")), ErrorCode.COMMAND_NOT_EXECUTABLE);
  }

  @Check("X4")
  public void commandRunsAsItsUser(CheckContext check) {
    needUsers(check);
    Expect.equal(
        "12345\n",
        check.run(Command.argv("id", "-u").withUser("12345")).stdout().text(),
        "its user");
    Expect.that(
        !check.output("id -u").equals("12345\n"), "the next command runs as the sandbox's user");
  }

  @Check("X4")
  public void userOwnsTheWorkspace(CheckContext check) {
    needUsers(check);
    Sandbox theirs = check.create(spec -> spec.user("12345"));
    ExecResult result = theirs.run(Command.shell("id -u; echo mine > file; cat file"));
    Expect.equal("12345\nmine\n", result.stdout().text(), "what its user can do there");
  }

  @Check("X4")
  public void unknownUserIsUserNotFound(CheckContext check) {
    needUsers(check);
    Command command = Command.argv("true").withUser("no-such-user");
    SandboxException e = Expect.thrown("run", () -> check.run(command), ErrorCode.USER_NOT_FOUND);
    Expect.contains(String.valueOf(e.getMessage()), "no-such-user", "the message");
  }

  @Check("X4")
  public void backgroundChildDoesNotDelayTheResult(CheckContext check) {
    ExecResult result = check.run(Command.shell("sleep 1000 & echo started").withTimeout(TIMEOUT));
    Expect.equal("started\n", result.stdout().text(), "stdout");
    Expect.equal(new Exit.Exited(0), result.exit(), "the exit");
  }

  @Check("X3")
  public void fiftyCommandsOneAfterTheOther(CheckContext check) {
    for (int i = 0; i < 50; i++) {
      Expect.equal(i + "\n", check.output("echo " + i), "the output of command " + i);
    }
  }

  @Check("X4")
  public void commandsDoNotShareShellState(CheckContext check) {
    String before = check.output("pwd");
    check.output("mkdir -p folder; cd folder; export LEFT=over; pwd");
    Expect.equal(before, check.output("pwd"), "the folder");
    Expect.equal("[]\n", check.output("echo \"[$LEFT]\""), "the variable");
  }

  @Check("X4")
  public void commandsSeeWhatTheFileSystemSees(CheckContext check) {
    check.sandbox().files().writeText("from-outside", "hello", UTF_8);
    Expect.equal("hello", check.output("cat from-outside"), "a file from outside");
    check.output("printf back > from-inside");
    Expect.equal(
        "back", check.sandbox().files().readText("from-inside", UTF_8, 100), "a file from inside");
  }

  private static void needUsers(CheckContext check) {
    if (!check.info().support().has(SpecFeature.USERS)) {
      throw check.notRun("the provider does not support users");
    }
  }
}
