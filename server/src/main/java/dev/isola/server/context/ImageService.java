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

/**
 * Manages the images of this installation. Operations that are not possible throw a
 * SandboxException.
 */
public interface ImageService {

  /** The image that a server can build by itself. */
  String BASE = "base";

  /** A service without images. */
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
                  "image does not exist: " + name,
                  "this server has no image store")
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
                  ErrorCode.NOT_IMPLEMENTED,
                  "this server has no image store",
                  "use a server with an image store")
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

  /** Creates an image from a tar archive of a root file system. */
  ImageDetails importArchive(String name, InputStream archive, boolean replace);

  /**
   * Creates an image from a registry, an archive or an OCI layout on the server's host.
   *
   * @param progress receives descriptions of the current step, on any thread
   */
  ImageDetails pull(String name, String source, boolean replace, Consumer<String> progress);

  /**
   * Builds the image {@value #BASE}, which needs only the package tools of this host.
   *
   * @param progress as in {@link #pull}
   */
  ImageDetails buildBase(Consumer<String> progress);

  void remove(String name);
}
