package dev.isola.engine.template;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The images of this server, which templates begin with and end as. */
public interface TemplateImages {

  /** For an engine without images. */
  TemplateImages NONE =
      new TemplateImages() {
        @Override
        public Optional<StoredImage> find(String name) {
          return Optional.empty();
        }

        @Override
        public void add(String name, InputStream archive) {
          throw absent();
        }

        @Override
        public String pull(String reference, Consumer<String> progress) {
          throw absent();
        }

        @Override
        public void remove(String name) {}

        private SandboxException absent() {
          return Fault.of(
                  ErrorCode.NOT_IMPLEMENTED, "this server keeps no images", "ask another server")
              .exception();
        }
      };

  /**
   * An image.
   *
   * @param digest of its content; empty text where there is none
   * @param env that it sets
   * @param user that it names; empty text for none
   * @param cwd that it names; empty text for none
   */
  record StoredImage(String digest, Map<String, String> env, String user, String cwd) {
    public StoredImage {
      env = Map.copyOf(env);
    }
  }

  /** Returns an image by its name; empty when there is none. */
  Optional<StoredImage> find(String name);

  /** Makes an image from a tar stream of a root file system; it is there whole or not at all. */
  void add(String name, InputStream archive);

  /**
   * Makes an image from what a registry has, or what the server can make by itself, unless it is
   * there already.
   *
   * @param progress is told in a few words what is being done, on any thread
   * @return the name of the image
   */
  String pull(String reference, Consumer<String> progress);

  /**
   * Removes an image; does nothing where there is none.
   *
   * @throws dev.isola.spi.error.Conflict while sandboxes stand on it
   */
  void remove(String name);
}
