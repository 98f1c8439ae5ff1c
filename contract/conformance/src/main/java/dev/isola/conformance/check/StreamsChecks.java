package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.provider.BasicFeature;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Checks live output, input and back-pressure. */
public final class StreamsChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int FLOOD = 20 * 1024 * 1024;

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void outputArrivesWhileTheCommandRuns(CheckContext check) throws IOException {
    Command command = Command.shell("echo first; read x; echo got $x").withStdin();
    try (Execution execution = check.sandbox().start(command)) {
      ExecutionReader reading = ExecutionReader.of(execution).until("first\n");
      write(execution, "answer\n");
      Expect.equal("first\ngot answer\n", reading.toEnd().stdout(), "stdout");
      Expect.equal(new Exit.Exited(0), execution.await(), "the exit");
    }
  }

  @Check("X5")
  public void offsetsCountAllBytesOfBothChannels(CheckContext check) {
    String text = "echo one; echo two >&2; seq 1 5000; echo end >&2";
    try (Execution execution = check.sandbox().start(Command.shell(text))) {
      ExecutionReader reading = ExecutionReader.of(execution).toEnd();
      Expect.equal(
          (long) reading.bytes(Channel.STDOUT).length + reading.bytes(Channel.STDERR).length,
          reading.position(),
          "the last offset");
      Expect.equal("two\nend\n", reading.stderr(), "stderr");
      Expect.that(reading.stdout().startsWith("one\n1\n2\n"), "stdout starts with its first lines");
    }
  }

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void everyPieceSaysWhenItWasWritten(CheckContext check) {
    Instant least = Instant.now().minusSeconds(120);
    Instant most = Instant.now().plusSeconds(180);
    try (Execution execution = check.sandbox().start(Command.shell("echo a; sleep 1; echo b"))) {
      ExecutionReader reading = ExecutionReader.of(execution).toEnd();
      Instant before = least;
      for (Output piece : reading.pieces()) {
        Instant at = ((Output.Data) piece).at();
        Expect.that(!at.isBefore(before), "time does not go back: " + at + " after " + before);
        before = at;
      }
      Expect.that(before.isBefore(most), "the last piece was written about now: " + before);
      Expect.that(
          reading.pieces().size() >= 2, "output written a second apart arrives in separate chunks");
    }
  }

  @Check("X5")
  public void everyPieceSaysWhichChannel(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("echo out; echo err >&2"))) {
      ExecutionReader reading = ExecutionReader.of(execution).toEnd();
      Expect.equal("out\n", reading.stdout(), "stdout");
      Expect.equal("err\n", reading.stderr(), "stderr");
      Expect.equal(0, reading.bytes(Channel.TERMINAL).length, "bytes on the terminal channel");
    }
  }

  @Check("X4")
  public void stdinReachesTheCommandByteForByte(CheckContext check) throws IOException {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    try (Execution execution = check.sandbox().start(Command.argv("cat").withStdin())) {
      execution.stdin().write(all);
      execution.stdin().close();
      Expect.equal(
          all, ExecutionReader.of(execution).toEnd().bytes(Channel.STDOUT), "what cat gave back");
    }
  }

  @Check(value = "X4", basics = BasicFeature.LIVE_STREAMS)
  public void stdinIsDeliveredBeforeItIsClosed(CheckContext check) throws IOException {
    try (Execution execution = check.sandbox().start(Command.argv("cat").withStdin())) {
      ExecutionReader reading = ExecutionReader.of(execution);
      for (String word : new String[] {"one\n", "two\n", "three\n"}) {
        write(execution, word);
        reading.until(word);
      }
      execution.stdin().close();
      Expect.equal("one\ntwo\nthree\n", reading.toEnd().stdout(), "stdout");
    }
  }

  @Check("X4")
  public void fiveMegabytesOfStdin(CheckContext check) throws IOException {
    int size = 5 * 1024 * 1024;
    try (Execution execution = check.sandbox().start(Command.argv("wc", "-c").withStdin())) {
      execution.stdin().write(new byte[size]);
      execution.stdin().close();
      Expect.equal(
          Integer.toString(size),
          ExecutionReader.of(execution).toEnd().stdout().strip(),
          "the count");
    }
  }

  @Check(value = "X4", basics = BasicFeature.LIVE_STREAMS)
  public void fiveMegabytesAreEchoed(CheckContext check) throws InterruptedException {
    int size = 5 * 1024 * 1024;
    try (Execution execution = check.sandbox().start(Command.argv("cat").withStdin())) {
      ConcurrentCalls.Call<String> writer =
          ConcurrentCalls.start(
              () -> {
                execution.stdin().write(new byte[size]);
                execution.stdin().close();
                return "";
              });
      Expect.equal((long) size, ExecutionReader.drain(execution), "what came back");
      writer.get(TIMEOUT, "the writer is done when all came back");
    }
  }

  @Check("X4")
  public void closingStdinIsEndOfFile(CheckContext check) throws IOException {
    Command command = Command.shell("cat; echo end").withStdin();
    try (Execution execution = check.sandbox().start(command)) {
      execution.stdin().close();
      Expect.equal("end\n", ExecutionReader.of(execution).toEnd().stdout(), "stdout");
    }
  }

  @Check(value = "X4", basics = BasicFeature.LIVE_STREAMS)
  public void writingAfterTheEndFails(CheckContext check) throws InterruptedException {
    try (Execution execution = check.sandbox().start(Command.argv("true").withStdin())) {
      execution.await();
      ConcurrentCalls.start(() -> writeUntilItFails(execution.stdin()))
          .get(TIMEOUT, "writing to a command that has ended throws");
    }
  }

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void commandBlocksWhileOutputIsUnread(CheckContext check) {
    Command command = Command.shell("head -c " + 2 * FLOOD + " /dev/zero; touch done");
    try (Execution execution = check.sandbox().start(command)) {
      // Unread output only goes into bounded buffers, which fill up quickly.
      check.output("sleep 1");
      Expect.that(!check.sandbox().files().exists("done"), "it waits for its reader");
      Expect.equal(2L * FLOOD, ExecutionReader.drain(execution), "the count after reading");
      Expect.equal(new Exit.Exited(0), execution.await(), "the exit");
    }
  }

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void slowReaderLosesNothing(CheckContext check) {
    Command command = Command.shell("head -c " + FLOOD + " /dev/zero; echo end");
    try (Execution execution = check.sandbox().start(command)) {
      long position = 0;
      for (int i = 0; i < 10; i++) {
        Output piece = execution.read().orElseThrow();
        Expect.that(piece instanceof Output.Data, "nothing is lost while a reader is attached");
        Expect.equal(position, piece.offset(), "the offset");
        position = piece.end();
        check.output("echo the reader does something else");
      }
      Optional<Output> piece = execution.read();
      for (; piece.isPresent(); piece = execution.read()) {
        Expect.that(piece.get() instanceof Output.Data, "nothing is lost");
        Expect.equal(position, piece.get().offset(), "the offset");
        position = piece.get().end();
      }
      Expect.equal(FLOOD + 4L, position, "the count");
    }
  }

  @Check("X5")
  public void readAfterTheEndStaysEmpty(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("echo x"))) {
      ExecutionReader.of(execution).toEnd();
      for (int i = 0; i < 3; i++) {
        Expect.equal(Optional.empty(), execution.read(), "read after the end");
      }
      Expect.equal(new Exit.Exited(0), execution.await(), "the exit");
    }
  }

  @Check("X5")
  public void awaitWithoutReadingReturns(CheckContext check) throws InterruptedException {
    Command command = Command.shell("head -c " + FLOOD + " /dev/zero; exit 5");
    try (Execution execution = check.sandbox().start(command)) {
      Exit exit = ConcurrentCalls.start(() -> execution.await()).get(TIMEOUT, "await returns");
      Expect.equal(new Exit.Exited(5), exit, "the exit");
    }
  }

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void awaitReturnsAfterItsTimeout(CheckContext check) throws InterruptedException {
    try (Execution execution = check.sandbox().start(Command.shell("cat; exit 4").withStdin())) {
      Optional<Exit> early =
          ConcurrentCalls.start(() -> execution.await(Duration.ofMillis(100)))
              .get(TIMEOUT, "await gives up");
      Expect.equal(Optional.empty(), early, "await of a command that runs");
      execution.stdin().close();
      Expect.equal(Optional.of(new Exit.Exited(4)), execution.await(TIMEOUT), "await at the end");
    } catch (IOException e) {
      throw new CheckFailed("closing stdin threw " + e);
    }
  }

  @Check(value = "X7", basics = BasicFeature.LIVE_STREAMS)
  public void killEndsARead(CheckContext check) throws InterruptedException {
    try (Execution execution = check.sandbox().start(Command.shell("echo up; sleep 1000"))) {
      ExecutionReader reading = ExecutionReader.of(execution).until("up\n");
      ConcurrentCalls.Call<Boolean> read = ConcurrentCalls.start(reading::next);
      execution.kill();
      Expect.that(!read.get(TIMEOUT, "read returns after kill"), "there is no more output");
      Expect.equal(new Exit.Signaled(Signal.KILL), execution.await(), "the exit");
    }
  }

  @Check(value = "X7", basics = BasicFeature.LIVE_STREAMS)
  public void interruptedReadIsCancelledAndTheCommandGoesOn(CheckContext check)
      throws InterruptedException, IOException {
    Command command = Command.shell("echo up; cat").withStdin();
    try (Execution execution = check.sandbox().start(command)) {
      ExecutionReader reading = ExecutionReader.of(execution).until("up\n");
      ConcurrentCalls.Call<Boolean> read = ConcurrentCalls.start(reading::next);
      read.thread().interrupt();
      try {
        read.get(TIMEOUT, "an interrupted read returns");
        throw new CheckFailed("an interrupted read returned");
      } catch (SandboxException e) {
        Expect.equal(ErrorCode.CANCELLED, e.code(), "the code of an interrupted read");
      }
      write(execution, "still here\n");
      reading.until("still here\n");
      execution.kill();
    }
  }

  @Check("X1")
  public void durationGrowsUntilTheEndAndThenStays(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.argv("cat").withStdin())) {
      Duration first = execution.duration();
      Expect.eventually(
          TIMEOUT, "the duration grows", () -> execution.duration().compareTo(first) > 0);
      execution.kill();
      execution.await();
      Duration last = execution.duration();
      check.output("echo time goes by");
      Expect.equal(last, execution.duration(), "the duration after the end");
    }
  }

  @Check("X5")
  public void endedCommandKeepsItsOutputForALateReader(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("seq 1 100; touch done"))) {
      Expect.eventually(TIMEOUT, "it ends", () -> check.sandbox().files().exists("done"));
      ExecutionReader reading = ExecutionReader.of(execution).toEnd();
      Expect.that(reading.stdout().endsWith("\n99\n100\n"), "all lines are there");
      Expect.equal(292L, reading.position(), "the count");
    }
  }

  private static void write(Execution execution, String text) throws IOException {
    execution.stdin().write(text.getBytes(UTF_8));
    execution.stdin().flush();
  }

  /** The first bytes may still fit into a buffer. */
  private static boolean writeUntilItFails(OutputStream stdin) {
    try {
      for (int i = 0; i < 1_000; i++) {
        stdin.write(new byte[64 * 1024]);
        stdin.flush();
      }
    } catch (IOException e) {
      return true;
    }
    throw new CheckFailed("64 MB were written to a command that had ended");
  }
}
