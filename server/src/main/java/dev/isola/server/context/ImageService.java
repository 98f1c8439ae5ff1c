package dev.isola.server.context;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Manages the images of this installation. Operations that are not possible throw a
 * SandboxException.
 */
public interface ImageService {

  /** The image that sandboxes of E2B's clients start from, one of {@link #ready()}. */
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
        public Set<String> ready() {
          return Set.of();
        }

        @Override
        public ImageDetails buildReady(
            String name, String ready, boolean replace, Consumer<String> progress) {
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

  /** Returns the names of the images that a server can build without a recipe. */
  Set<String> ready();

  /**
   * Builds an image from the packages of a distribution, which needs only the package tools of this
   * host.
   *
   * @param name the name of the new image
   * @param ready one of {@link #ready()}
   * @param progress as in {@link #pull}
   */
  ImageDetails buildReady(String name, String ready, boolean replace, Consumer<String> progress);

  /** Builds the image {@value #BASE}; see {@link #buildReady}. */
  default ImageDetails buildBase(Consumer<String> progress) {
    return buildReady(BASE, BASE, false, progress);
  }

  void remove(String name);
}
