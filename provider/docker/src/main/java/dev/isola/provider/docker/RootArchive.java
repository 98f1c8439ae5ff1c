package dev.isola.provider.docker;

import dev.isola.codec.http.HttpRequest;
import dev.isola.host.image.Image;
import dev.isola.host.launch.HostProgram;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The root of one of Isola's images as an archive, created while it is sent. */
record RootArchive(Image image) implements HttpRequest.Body {
  /** The exit status of GNU tar if files changed while it read them. */
  private static final int DIFFERS = 1;

  @Override
  public String type() {
    return "application/x-tar";
  }

  @Override
  public long length() {
    return -1;
  }

  @Override
  public void writeTo(OutputStream out) throws IOException {
    Path messages = Files.createTempFile("isola-tar", ".txt");
    try {
      writeTo(out, messages);
    } finally {
      Files.delete(messages);
    }
  }

  private void writeTo(OutputStream out, Path messages) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(messages.toFile());
    builder.environment().put("LC_ALL", "C");
    Process tar = builder.start();
    try {
      tar.getInputStream().transferTo(out);
      int status = tar.waitFor();
      if (status != 0 && !(status == DIFFERS && onlyLinksChanged(messages))) {
        throw new IOException("tar exited with " + status + " in " + image.rootfs());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while sending the image", e);
    } finally {
      tar.destroyForcibly();
    }
  }

  /**
   * Returns whether GNU tar reported nothing but changed files. Images are immutable, but a file
   * that another image shares changes its link count, and so its change time, when that image is
   * added or removed.
   */
  private static boolean onlyLinksChanged(Path messages) throws IOException {
    try (Stream<String> lines = Files.lines(messages, StandardCharsets.ISO_8859_1)) {
      return lines.allMatch(line -> line.endsWith(": file changed as we read it"));
    }
  }

  private List<String> command() {
    HostProgram program =
        HostProgram.find("tar")
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.PROVIDER_UNAVAILABLE,
                            "the image "
                                + image.name()
                                + " cannot be sent because tar is not installed",
                            "install it (apt-get install tar)")
                        .exception());
    List<String> command =
        new ArrayList<>(List.of(program.path().toString(), "--create", "--numeric-owner"));
    if (!image.ownersKept()) { // The server owns all files here; root owns them in the container.
      command.addAll(List.of("--owner=0", "--group=0"));
    }
    command.addAll(List.of("--directory", image.rootfs().toString(), "."));
    return command;
  }
}
