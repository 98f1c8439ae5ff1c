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

/** Content on its way in: all of it lies in a temporary file before anything is done with it. */
record Staging(SandboxContext inside, ScriptRunner shell, FileErrors errors) {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration LONGEST = Duration.ofHours(1);

  /** Brings {@code content} in, lets {@code use} work with its path, and leaves nothing there. */
  <T> T with(String what, InputStream content, Function<String, T> use) {
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    String staged = "/tmp/.isola-" + HexFormat.of().formatHex(random);
    Source source = new Source(content);
    try {
      inside.envd().upload(staged, source, LONGEST);
      source.rethrow(inside, what);
    } catch (RpcError e) {
      remove(staged);
      throw errors.of(code(e), "writing", what, e.detail());
    } catch (SandboxException e) {
      remove(staged);
      source.rethrow(inside, what);
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

  /** Removes what is left of it; where even that fails nobody is helped by hearing so. */
  void remove(String staged) {
    try {
      shell.run(
          FileScripts.DROP,
          inside.user().isEmpty() ? Optional.empty() : Optional.of("root"),
          List.of(staged));
    } catch (SandboxException e) {
      // the reason of the failure before is told
    }
  }

  /** Remembers why it broke: whoever sends it only says that it did. */
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
      // the caller's
    }

    void rethrow(SandboxContext inside, String what) {
      Throwable why = broken;
      if (why instanceof SandboxException known) {
        throw known.sandbox().isPresent()
            ? known
            : known.fault().sandbox(inside.id()).exception(known);
      }
      if (why != null) {
        throw inside
            .fault(
                ErrorCode.INVALID_REQUEST,
                "the content of " + what + " could not be read: " + why.getMessage(),
                "give it once more")
            .exception(why);
      }
    }
  }
}
