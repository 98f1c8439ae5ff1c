package dev.isola.provider.e2b.exec;

import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The standard input of a command, or the input of its terminal. */
final class ProcessInput extends OutputStream {
  private static final int PIECE = 256 * 1024;

  private final SandboxContext context;
  private final E2bExecution.Start start;
  private final BooleanSupplier over;
  private boolean closed;

  ProcessInput(SandboxContext context, E2bExecution.Start start, BooleanSupplier over) {
    this.context = context;
    this.start = start;
    this.over = over;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (closed || (!start.stdin() && !start.terminal())) {
      throw new IOException("the standard input of the command is closed");
    }
    for (int at = offset; at < offset + length; at += PIECE) {
      send(Arrays.copyOfRange(bytes, at, Math.min(at + PIECE, offset + length)));
    }
  }

  private void send(byte[] piece) throws IOException {
    if (over.getAsBoolean()) {
      throw ended();
    }
    String text = Base64.getEncoder().encodeToString(piece);
    call(
        "process.Process/SendInput",
        Map.of(
            "process",
            Map.of("pid", start.pid()),
            "input",
            Map.of(start.terminal() ? "pty" : "stdin", text)),
        false);
  }

  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (start.stdin() && !start.terminal() && !over.getAsBoolean()) {
      call("process.Process/CloseStdin", Map.of("process", Map.of("pid", start.pid())), true);
    }
  }

  /** Discards input for a command that has closed its standard input. */
  private void call(String method, Map<String, ?> message, boolean lenient) throws IOException {
    try {
      context.envd().call(method, message, false);
    } catch (RpcError e) {
      if (e.code().equals("not_found") && !lenient) {
        throw ended();
      }
      boolean nobodyReads = e.detail().contains("broken pipe") || e.detail().contains("closed");
      if (!lenient && !nobodyReads) {
        throw new IOException(e.detail(), e);
      }
    } catch (SandboxException e) {
      throw new IOException(e.fault().problem(), e);
    }
  }

  private static IOException ended() {
    return new IOException("the command has ended");
  }
}
