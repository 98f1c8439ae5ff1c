package dev.isola.server.context;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** What sandboxes of this installation start from. What cannot be done is a SandboxException. */
public interface Images {

  /** The image that a server can make by itself. */
  String BASE = "base";

  /** Where nobody keeps images. */
  Images NONE =
      new Images() {
        @Override
        public List<Stored> list() {
          return List.of();
        }

        @Override
        public Stored need(String name) {
          throw Fault.of(
                  ErrorCode.IMAGE_NOT_FOUND,
                  "there is no image " + name,
                  "this server keeps no images")
              .exception();
        }

        @Override
        public Stored add(String name, InputStream archive, boolean replace) {
          throw absent();
        }

        @Override
        public Stored pull(String name, String source, boolean replace, Consumer<String> progress) {
          throw absent();
        }

        @Override
        public Stored base(Consumer<String> progress) {
          throw absent();
        }

        @Override
        public void remove(String name) {
          need(name);
        }

        private SandboxException absent() {
          return Fault.of(
                  ErrorCode.NOT_IMPLEMENTED, "this server keeps no images", "ask another server")
              .exception();
        }
      };

  /** An image. */
  record Stored(
      String name,
      Instant createdAt,
      String source,
      String digest,
      long size,
      long files,
      String architecture,
      Optional<String> user,
      Optional<String> workdir,
      Map<String, String> env,
      List<String> notes) {}

  List<Stored> list();

  Stored need(String name);

  /** Makes one from a tar archive of a root file system. */
  Stored add(String name, InputStream archive, boolean replace);

  /**
   * Makes one from what a registry, an archive or an OCI layout of the server's machine holds.
   *
   * @param progress is told in a few words what is being done, on any thread
   */
  Stored pull(String name, String source, boolean replace, Consumer<String> progress);

  /**
   * Makes the image {@value #BASE}, which needs nothing but this machine's packages.
   *
   * @param progress as with {@link #pull}
   */
  Stored base(Consumer<String> progress);

  void remove(String name);
}
