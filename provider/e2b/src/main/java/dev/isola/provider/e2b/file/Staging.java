package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Uploads content to a temporary file in the sandbox before it is used. */
record Staging(SandboxContext context, ScriptRunner shell, FileErrors errors) {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration LONGEST = Duration.ofHours(1);

  /** Uploads {@code content}, calls {@code use} with its path, and removes the file. */
  <T> T with(String what, InputStream content, Function<String, T> use) {
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    String staged = "/tmp/.isola-" + HexFormat.of().formatHex(random);
    Source source = new Source(content);
    try {
      context.envd().upload(staged, source, LONGEST);
      source.rethrow(context, what);
    } catch (RpcError e) {
      remove(staged);
      throw errors.of(code(e), "writing", what, e.detail());
    } catch (SandboxException e) {
      remove(staged);
      source.rethrow(context, what);
      throw e;
    }
    try {
      return use.apply(staged);
    } catch (RuntimeException e) {
      remove(staged);
      throw e;
    }
  }

  private static ErrorCode code(RpcError e) {
    return e.code().equals("507") ? ErrorCode.DISK_FULL : ErrorCode.INVALID_REQUEST;
  }

  /** Removes the temporary file. A failure is ignored, because the caller cannot act on it. */
  void remove(String staged) {
    try {
      shell.run(
          FileScripts.DROP,
          context.user().isEmpty() ? Optional.empty() : Optional.of("root"),
          List.of(staged));
    } catch (SandboxException e) {
      // The original failure is reported.
    }
  }

  /**
   * Remembers the exception of the source, because the HTTP client reports only that reading
   * failed.
   */
  private static final class Source extends FilterInputStream {
    private volatile @Nullable Throwable broken;

    Source(InputStream content) {
      super(content);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      try {
        return super.read(to, offset, length);
      } catch (IOException | RuntimeException e) {
        broken = e;
        throw e;
      }
    }

    @Override
    public void close() {
      // The caller closes the stream.
    }

    void rethrow(SandboxContext context, String what) {
      Throwable why = broken;
      if (why instanceof SandboxException known) {
        throw known.sandbox().isPresent()
            ? known
            : known.fault().sandbox(context.id()).exception(known);
      }
      if (why != null) {
        throw context
            .fault(
                ErrorCode.INVALID_REQUEST,
                "the content of " + what + " could not be read: " + why.getMessage(),
                "send it again")
            .exception(why);
      }
    }
  }
}
