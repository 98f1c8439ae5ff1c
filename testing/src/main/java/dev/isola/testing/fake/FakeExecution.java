package dev.isola.testing.fake;

import dev.isola.spi.Bytes;
import dev.isola.spi.LimitKind;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A command with scripted output, or one that echoes its standard input. */
final class FakeExecution implements Execution {
  private final BlockingQueue<Optional<Output>> output = new LinkedBlockingQueue<>();
  private volatile Exit exit = new Exit.Lost("it did not end");
  private volatile OutputStream stdin = OutputStream.nullOutputStream();
  private volatile Set<LimitKind> limitsMet = Set.of();
  private long offset;

  FakeExecution write(Channel channel, String text) {
    return write(channel, text.getBytes(StandardCharsets.UTF_8));
  }

  FakeExecution write(Channel channel, byte[] bytes) {
    output.add(Optional.of(new Output.Data(channel, offset, Instant.EPOCH, Bytes.of(bytes))));
    offset += bytes.length;
    return this;
  }

  FakeExecution met(LimitKind... kinds) {
    limitsMet = Set.of(kinds);
    return this;
  }

  @Override
  public Set<LimitKind> limitsMet() {
    return limitsMet;
  }

  void end(Exit how) {
    exit = how;
    output.add(Optional.empty());
  }

  void echoStdin() {
    stdin =
        new OutputStream() {
          @Override
          public void write(int b) {
            FakeExecution.this.write(Channel.STDOUT, new byte[] {(byte) b});
          }

          @Override
          public void write(byte[] bytes, int from, int length) {
            FakeExecution.this.write(
                Channel.STDOUT, Arrays.copyOfRange(bytes, from, from + length));
          }

          @Override
          public void close() {
            end(new Exit.Exited(0));
          }
        };
  }

  @Override
  public ExecutionId id() {
    return new ExecutionId("fake");
  }

  @Override
  public long pid() {
    return 42;
  }

  @Override
  public OutputStream stdin() {
    return stdin;
  }

  @Override
  public Optional<Output> read() {
    try {
      return output.take();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
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
  public void signal(Signal signal) {}

  @Override
  public void kill() {
    exit = new Exit.Signaled(Signal.KILL);
  }

  @Override
  public void close() {}
}
