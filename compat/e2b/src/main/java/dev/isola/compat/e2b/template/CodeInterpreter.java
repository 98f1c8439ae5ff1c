package dev.isola.compat.e2b.template;

import dev.isola.spi.exec.Command;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;

/**
 * The server behind E2B's code interpreter. It listens on port 49999 of a sandbox and runs Python
 * cells; the image needs only {@code python3}.
 */
public final class CodeInterpreter {
  public static final Set<String> NAMES = Set.of("code-interpreter-v1", "code-interpreter");

  /** An optional image with more libraries than the base image. */
  public static final String IMAGE = "code-interpreter";

  /** A bash command that succeeds once the port accepts connections. */
  public static final String READY = "exec 3<>/dev/tcp/127.0.0.1/49999";

  private static final String VARIABLE = "ISOLA_KERNEL";
  private static final String START = "exec python3 -c \"$" + VARIABLE + "\"";
  private static final String TEXT = text();

  private CodeInterpreter() {}

  public static E2bTemplate template(String name, String image) {
    return E2bTemplate.of(name, image).withStart(START);
  }

  public static boolean isStartOf(E2bTemplate template) {
    return template.start().filter(START::equals).isPresent();
  }

  public static Command command(Command start) {
    return start.withEnv(VARIABLE, TEXT);
  }

  private static String text() {
    try (InputStream in =
        Objects.requireNonNull(
            CodeInterpreter.class.getResourceAsStream("kernel.py"), "kernel.py")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
