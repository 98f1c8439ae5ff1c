package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.Function;

/** The output of a script, read while it runs. */
final class ScriptOutput extends InputStream {
  private final ScriptRunner.RunningScript script;
  private final Function<ScriptRunner.ScriptResult, SandboxException> failure;
  private byte[] piece = {};
  private int at;
  private boolean ended;

  /** Waits until the output begins. */
  ScriptOutput(
      ScriptRunner.RunningScript script,
      Function<ScriptRunner.ScriptResult, SandboxException> failure) {
    this.script = script;
    this.failure = failure;
    try {
      more();
      if (ended && !script.result().succeeded()) {
        throw failure.apply(script.result());
      }
    } catch (RuntimeException e) {
      script.close();
      throw e;
    }
  }

  private void more() {
    Optional<byte[]> next = script.next();
    piece = next.orElse(new byte[0]);
    at = 0;
    ended = next.isEmpty();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    try {
      while (at == piece.length && !ended) {
        more();
      }
    } catch (SandboxException e) {
      throw new IOException(e.fault().problem(), e);
    }
    if (at < piece.length) {
      int count = Math.min(length, piece.length - at);
      System.arraycopy(piece, at, to, offset, count);
      at += count;
      return count;
    }
    // tar exits with 1 if a file changed while it was read.
    if (script.result().code() > 1) {
      throw new IOException(failure.apply(script.result()).fault().problem());
    }
    return -1;
  }

  @Override
  public void close() {
    script.close();
  }
}
