package dev.isola.compat.e2b.envd;

import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * A client uploads the input as a form: its first line is the content type. The parts are the same
 * whether the form arrives at once or byte by byte.
 */
public final class MultipartFuzz {
  /** Arrives byte by byte. */
  private static final class Slow extends InputStream {
    private final InputStream in;

    Slow(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      return in.read();
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      return in.read(into, offset, Math.min(length, 1));
    }
  }

  private MultipartFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    int line = 0;
    while (line < input.length && input[line] != '\n') {
      line++;
    }
    String type = new String(input, 0, line, StandardCharsets.ISO_8859_1);
    byte[] form = Arrays.copyOfRange(input, Math.min(line + 1, input.length), input.length);
    String whole = parts(new ByteArrayInputStream(form), type);
    String slow = parts(new Slow(new ByteArrayInputStream(form)), type);
    if (!whole.equals(slow)) {
      throw new AssertionError("at once " + whole + ", byte by byte " + slow);
    }
  }

  private static String parts(InputStream in, String type) throws IOException {
    StringBuilder parts = new StringBuilder();
    try {
      Multipart form = new Multipart(in, type);
      for (Optional<Multipart.Part> next = form.next(); next.isPresent(); next = form.next()) {
        Multipart.Part part = next.get();
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        part.content().transferTo(content);
        parts.append(part.name()).append('\0').append(part.file()).append('\0');
        parts.append(content.toString(StandardCharsets.ISO_8859_1)).append('\0');
      }
      return parts + "end";
    } catch (SandboxException e) {
      return parts + "refused: " + e.getMessage();
    } catch (EOFException e) {
      return parts + "cut off";
    }
  }
}
