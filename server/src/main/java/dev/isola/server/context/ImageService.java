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
public interface ImageService {

  /** The image that a server can make by itself. */
  String BASE = "base";

  /** Where nobody keeps images. */
  ImageService NONE =
      new ImageService() {
        @Override
        public List<ImageDetails> list() {
          return List.of();
        }

        @Override
        public ImageDetails get(String name) {
          throw Fault.of(
                  ErrorCode.IMAGE_NOT_FOUND,
                  "there is no image " + name,
                  "this server keeps no images")
              .exception();
        }

        @Override
        public ImageDetails importArchive(String name, InputStream archive, boolean replace) {
          throw absent();
        }

        @Override
        public ImageDetails pull(
            String name, String source, boolean replace, Consumer<String> progress) {
          throw absent();
        }

        @Override
        public ImageDetails buildBase(Consumer<String> progress) {
          throw absent();
        }

        @Override
        public void remove(String name) {
          get(name);
        }

        private SandboxException absent() {
          return Fault.of(
                  ErrorCode.NOT_IMPLEMENTED, "this server keeps no images", "ask another server")
              .exception();
        }
      };

  /** An image. */
  record ImageDetails(
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

  List<ImageDetails> list();

  ImageDetails get(String name);

  /** Makes one from a tar archive of a root file system. */
  ImageDetails importArchive(String name, InputStream archive, boolean replace);

  /**
   * Makes one from what a registry, an archive or an OCI layout of the server's machine holds.
   *
   * @param progress is told in a few words what is being done, on any thread
   */
  ImageDetails pull(String name, String source, boolean replace, Consumer<String> progress);

  /**
   * Makes the image {@value #BASE}, which needs nothing but this machine's packages.
   *
   * @param progress as with {@link #pull}
   */
  ImageDetails buildBase(Consumer<String> progress);

  void remove(String name);
}
