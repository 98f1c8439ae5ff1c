package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.time.Duration;
import java.util.Set;

/** Checks terminals. */
public final class PtyChecks {
  private static final TerminalSize SIZE = new TerminalSize(80, 24);

  private static Terminal open(CheckContext check, String shell) {
    return open(check, Command.shell(shell));
  }

  private static Terminal open(CheckContext check, Command command) {
    return check.as(Terminals.class).open(command, SIZE);
  }

  @Check(value = "X6", needs = Terminals.class)
  public void standardStreamsAreATerminal(CheckContext check) {
    String script = "test -t 0 && test -t 1 && test -t 2 && echo it is a terminal";
    try (BackgroundReader screen = new BackgroundReader(open(check, script))) {
      Expect.equal(new Exit.Exited(0), screen.awaitExit(), "the exit");
      Expect.equal("it is a terminal\r\n", screen.text(), "what is shown");
    }
    Expect.that(!check.run("test -t 1").succeeded(), "without a terminal there is none");
  }

  @Check(value = "X6", needs = Terminals.class)
  public void everythingArrivesOnTheTerminalsChannel(CheckContext check) {
    try (BackgroundReader screen =
        new BackgroundReader(open(check, "echo to stdout; echo to stderr >&2"))) {
      screen.awaitExit();
      Expect.equal("to stdout\r\nto stderr\r\n", screen.text(), "what is shown");
      Expect.equal(Set.of(Channel.TERMINAL), screen.channels(), "the channels");
    }
  }

  @Check(value = "X6", needs = Terminals.class, tools = "stty")
  public void sizeIsSetAndChanged(CheckContext check) {
    String script = "stty size; read line; stty size";
    Terminal terminal =
        check.as(Terminals.class).open(Command.shell(script), new TerminalSize(97, 31));
    try (BackgroundReader screen = new BackgroundReader(terminal)) {
      screen.awaitText("31 97\r\n");
      terminal.resize(new TerminalSize(132, 43));
      screen.type("\n").awaitText("43 132\r\n");
      Expect.equal(new Exit.Exited(0), screen.awaitExit(), "the exit");
    }
  }

  @Check(value = "X6", needs = Terminals.class, tools = "while")
  public void aResizeIsSignalled(CheckContext check) {
    // Depending on the shell, the trap interrupts the read or runs after it.
    String script = "trap 'echo resized' WINCH; echo ready; while true; do read line; done";
    Terminal terminal = open(check, script);
    try (BackgroundReader screen = new BackgroundReader(terminal)) {
      screen.awaitText("ready\r\n");
      terminal.resize(new TerminalSize(100, 30));
      screen.type("go\n").awaitText("resized");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void inputIsEchoedAndRead(CheckContext check) {
    try (BackgroundReader screen =
        new BackgroundReader(open(check, "read line; echo \"got $line\""))) {
      screen.type("some words\n").awaitText("some words\r\n").awaitText("got some words\r\n");
      Expect.equal(new Exit.Exited(0), screen.awaitExit(), "the exit");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void controlDIsEndOfFile(CheckContext check) {
    try (BackgroundReader screen = new BackgroundReader(open(check, "cat; echo after"))) {
      screen.type("line\n").awaitText("line\r\nline\r\n").type("\u0004").awaitText("after\r\n");
      Expect.equal(new Exit.Exited(0), screen.awaitExit(), "the exit");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void controlCInterrupts(CheckContext check) {
    // Some shells lose a signal that arrives before they wait, so send it once cat is running.
    try (BackgroundReader screen = new BackgroundReader(open(check, "cat"))) {
      screen.type("line\n").awaitText("line\r\nline\r\n").type("\u0003");
      Exit exit = screen.awaitExit();
      Expect.that(
          exit.equals(new Exit.Signaled(Signal.INT)) || exit.equals(new Exit.Exited(130)),
          "it ends by SIGINT, not with " + exit);
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void exitCodeIsReported(CheckContext check) {
    try (BackgroundReader screen = new BackgroundReader(open(check, "echo bye; exit 42"))) {
      Expect.equal(new Exit.Exited(42), screen.awaitExit(), "the exit");
      Expect.equal("bye\r\n", screen.text(), "what is shown");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void backgroundProcessDoesNotDelayTheExit(CheckContext check) {
    try (BackgroundReader screen =
        new BackgroundReader(open(check, "sleep 1000 & echo started; exit 3"))) {
      Exit exit = screen.awaitExit();
      Expect.equal(new Exit.Exited(3), exit, "the exit");
      Expect.contains(screen.text(), "started", "what is shown");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void theTerminalsTypeIsSet(CheckContext check) {
    try (BackgroundReader screen = new BackgroundReader(open(check, "echo \"type=$TERM.\""))) {
      screen.awaitText("type=xterm-256color.");
    }
    Command plain = Command.shell("echo \"type=$TERM.\"").withEnv("TERM", "dumb");
    try (BackgroundReader screen = new BackgroundReader(open(check, plain))) {
      screen.awaitText("type=dumb.");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void unicodePassesBothWays(CheckContext check) {
    try (BackgroundReader screen =
        new BackgroundReader(open(check, "read line; echo \"[$line]\""))) {
      screen.type("größe 日本 🏝\n").awaitText("[größe 日本 🏝]\r\n");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void killEndsIt(CheckContext check) {
    Terminal terminal = open(check, "echo ready; sleep 1000");
    try (BackgroundReader screen = new BackgroundReader(terminal)) {
      screen.awaitText("ready");
      terminal.kill();
      Expect.equal(new Exit.Signaled(Signal.KILL), screen.awaitExit(), "the exit");
      terminal.resize(new TerminalSize(10, 10));
      terminal.kill();
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void aTimeoutEndsIt(CheckContext check) {
    Command command = Command.shell("echo ready; sleep 1000").withTimeout(Duration.ofMillis(700));
    try (BackgroundReader screen = new BackgroundReader(open(check, command))) {
      Exit exit = screen.awaitExit();
      Expect.that(exit instanceof Exit.TimedOut, "it ends by its timeout, not with " + exit);
      Expect.equal("ready\r\n", screen.text(), "what is shown");
    }
  }

  @Check(value = "X6", needs = Terminals.class)
  public void largeOutputArrivesComplete(CheckContext check) {
    try (BackgroundReader screen =
        new BackgroundReader(open(check, "head -c 3000000 /dev/zero; echo end"))) {
      Expect.equal(new Exit.Exited(0), screen.awaitExit(), "the exit");
      Expect.equal(3_000_005, screen.text().length(), "the bytes that are shown");
      Expect.that(screen.text().endsWith("\0end\r\n"), "the end is shown last");
    }
  }
}
