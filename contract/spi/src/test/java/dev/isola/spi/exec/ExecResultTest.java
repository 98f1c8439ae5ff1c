package dev.isola.spi.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** X1, X3: the result of a command that ran to its end. */
class ExecResultTest {
  private static final Command COMMAND = Command.shell("make all");

  @Test
  void channelsAreKeptApart() {
    Scripted execution =
        new Scripted(
            new Exit.Exited(3),
            data(Channel.STDOUT, 0, "out"),
            data(Channel.STDERR, 3, "err"),
            data(Channel.STDOUT, 6, "put"));

    ExecResult result = ExecResult.collect(execution, COMMAND, OutputLimit.DEFAULT);

    assertThat(result.command()).isEqualTo("make all");
    assertThat(result.stdout().text()).isEqualTo("output");
    assertThat(result.stderr().text()).isEqualTo("err");
    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.succeeded()).isFalse();
    assertThat(result.timedOut()).isFalse();
    assertThat(result.duration()).isEqualTo(Duration.ofMillis(7));
    assertThat(execution.log).containsExactly("close");
  }

  @Test
  void aTerminalIsStandardOutput() {
    ExecResult result =
        ExecResult.collect(
            new Scripted(new Exit.Exited(0), data(Channel.TERMINAL, 0, "both")),
            COMMAND,
            OutputLimit.DEFAULT);

    assertThat(result.stdout().text()).isEqualTo("both");
    assertThat(result.succeeded()).isTrue();
  }

  @Test
  void aGapCountsAsOmitted() {
    ExecResult result =
        ExecResult.collect(
            new Scripted(
                new Exit.Exited(0), new Output.Gap(0, 100), data(Channel.STDOUT, 100, "x")),
            COMMAND,
            OutputLimit.DEFAULT);

    assertThat(result.stdout().total()).isEqualTo(101);
    assertThat(result.stdout().omitted()).isEqualTo(100);
  }

  @Test
  void aTimeoutIsAResult() {
    ExecResult result =
        ExecResult.collect(
            new Scripted(new Exit.TimedOut(Duration.ofSeconds(1))), COMMAND, OutputLimit.DEFAULT);

    assertThat(result.timedOut()).isTrue();
    assertThat(result.exitCode()).isEqualTo(124);
  }

  @Test
  void receiverThatThrowsKillsTheCommandOnlyIfItMustNotOutliveTheCall() {
    IOException full = new IOException("full");
    Scripted foreground = new Scripted(new Exit.Exited(0), data(Channel.STDOUT, 0, "out"));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> foreground.followToEnd(_ -> fail(full)))
        .isSameAs(full);
    assertThat(foreground.log).containsExactly("kill", "close");

    Scripted followed = new Scripted(new Exit.Exited(0), data(Channel.STDOUT, 0, "out"));
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> followed.follow(_ -> fail(full)));
    assertThat(followed.log).isEmpty();
  }

  private static void fail(IOException e) throws IOException {
    throw e;
  }

  @Test
  void failureOfTheSandboxKillsTheCommand() {
    Scripted execution = new Scripted(new Exit.Lost("never seen"));
    execution.failure = true;

    assertThatExceptionOfType(OutcomeUnknown.class)
        .isThrownBy(() -> ExecResult.collect(execution, COMMAND, OutputLimit.DEFAULT));
    assertThat(execution.log).containsExactly("kill", "close");
  }

  @Test
  void chunkEndIsTheNextOffset() {
    assertThat(data(Channel.STDOUT, 5, "abc").end()).isEqualTo(8);
    assertThat(new Output.Gap(5, 10).end()).isEqualTo(15);
  }

  @Test
  void exitHasTheCodeOfAShell() {
    assertThat(new Exit.Exited(0).shellCode()).isZero();
    assertThat(new Exit.Exited(255).shellCode()).isEqualTo(255);
    assertThat(new Exit.Signaled(Signal.KILL).shellCode()).isEqualTo(137);
    assertThat(new Exit.Signaled(Signal.TERM).shellCode()).isEqualTo(143);
    assertThat(new Exit.TimedOut(Duration.ZERO).shellCode()).isEqualTo(124);
    assertThat(new Exit.OutOfMemory().shellCode()).isEqualTo(137);
    assertThat(new Exit.Lost("gone").shellCode()).isEqualTo(255);
  }

  private static Output.Data data(Channel channel, long offset, String text) {
    return new Output.Data(channel, offset, Instant.EPOCH, Bytes.utf8(text));
  }

  /** Replays a list of chunks, then an exit. */
  private static final class Scripted implements Execution {
    private final Queue<Output> pieces;
    private final Exit exit;
    private final List<String> log = new ArrayList<>();
    private boolean failure;

    Scripted(Exit exit, Output... pieces) {
      this.exit = exit;
      this.pieces = new ArrayDeque<>(List.of(pieces));
    }

    @Override
    public ExecutionId id() {
      return new ExecutionId("e1");
    }

    @Override
    public long pid() {
      return 1;
    }

    @Override
    public OutputStream stdin() {
      return OutputStream.nullOutputStream();
    }

    @Override
    public Optional<Output> read() {
      if (failure) {
        throw Fault.of(ErrorCode.OUTCOME_UNKNOWN, "the sandbox was lost", "look again").exception();
      }
      return Optional.ofNullable(pieces.poll());
    }

    @Override
    public Exit await() {
      return exit;
    }

    @Override
    public Optional<Exit> await(Duration timeout) {
      return Optional.of(exit);
    }

    @Override
    public Duration duration() {
      return Duration.ofMillis(7);
    }

    @Override
    public void signal(Signal signal) {
      log.add(signal.name());
    }

    @Override
    public void kill() {
      log.add("kill");
    }

    @Override
    public void close() {
      log.add("close");
    }
  }
}
