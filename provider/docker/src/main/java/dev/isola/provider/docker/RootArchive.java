package dev.isola.provider.docker;

import dev.isola.host.image.Image;
import dev.isola.host.launch.HostProgram;
import dev.isola.provider.docker.http.EngineRequest;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The root of one of Isola's images as an archive, created while it is sent. */
record RootArchive(Image image) implements EngineRequest.Body {
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
    Process tar =
        new ProcessBuilder(command())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      tar.getInputStream().transferTo(out);
      int status = tar.waitFor();
      if (status != 0) {
        throw new IOException("tar exited with " + status + " in " + image.rootfs());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while sending the image", e);
    } finally {
      tar.destroyForcibly();
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
