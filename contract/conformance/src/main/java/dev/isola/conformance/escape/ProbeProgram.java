package dev.isola.conformance.escape;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The C program in {@code src/main/c} that runs the probes. It is statically linked and runs on any
 * Linux.
 */
public final class ProbeProgram {
  public static final String NAME = "isola-probe";

  private static final int TIMEOUT_SECONDS = 30;
  private static final int MAX_OUTPUT = 4096;

  private final byte[] content;

  private ProbeProgram(byte[] content) {
    this.content = content;
  }

  /** Returns the program for this machine, or empty if there is none. */
  public static Optional<ProbeProgram> find() {
    String resource = resource(System.getProperty("os.arch", ""));
    try (InputStream in = ProbeProgram.class.getClassLoader().getResourceAsStream(resource)) {
      return in == null ? Optional.empty() : Optional.of(new ProbeProgram(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns its location for an architecture as the JVM names it; {@code make} names others. */
  static String resource(String architecture) {
    String machine =
        switch (architecture.toLowerCase(Locale.ROOT)) {
          case "amd64" -> "x86_64";
          case "arm64" -> "aarch64";
          case String other -> other;
        };
    return "META-INF/isola/conformance/linux-" + machine + "/" + NAME;
  }

  public byte[] content() {
    return content.clone();
  }

  /** Writes the program to {@code folder}. */
  void install(Path folder) throws IOException {
    Path target = Files.write(folder.resolve(NAME), content);
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Runs the program in {@code folder} as a plain process of this user. */
  static ProbeResult run(Path folder, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(folder.resolve(NAME).toString()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(folder.toFile());
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.redirectErrorStream(true);
    Process process = builder.start();
    try (InputStream out = process.getInputStream()) {
      // The program has its own timeout, so reading to the end terminates.
      String output = new String(out.readNBytes(MAX_OUTPUT), StandardCharsets.UTF_8);
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException(NAME + " does not end");
      }
      return ProbeResult.parse(output)
          .orElseThrow(() -> new IOException(NAME + " said: " + output));
    } finally {
      process.destroyForcibly();
    }
  }
}
