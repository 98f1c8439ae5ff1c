package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The image store of this server, which provides base images and stores built ones. */
public interface TemplateImages {

  /** For an engine without an image store. */
  TemplateImages NONE =
      new TemplateImages() {
        @Override
        public Optional<StoredImage> find(String name) {
          return Optional.empty();
        }

        @Override
        public void checkCanAdd(String name, boolean replace) {
          throw absent();
        }

        @Override
        public void add(String name, InputStream archive, NewImage metadata) {
          throw absent();
        }

        @Override
        public void addLayer(String name, Layer layer, NewImage metadata) {
          throw absent();
        }

        @Override
        public boolean hasUser(String image, String user) {
          return false;
        }

        @Override
        public String pull(String reference, Consumer<String> progress) {
          throw absent();
        }

        @Override
        public void remove(String name) {}

        private SandboxException absent() {
          return Fault.of(
                  ErrorCode.NOT_IMPLEMENTED, "this server has no image store", "use another server")
              .exception();
        }
      };

  /**
   * An image.
   *
   * @param digest the digest of its content; empty if unknown
   * @param env the environment that it sets
   * @param user the user that it sets; empty for none
   * @param cwd the working directory that it sets; empty for none
   */
  record StoredImage(String digest, Map<String, String> env, String user, String cwd) {
    public StoredImage {
      env = Map.copyOf(env);
    }
  }

  /** Returns an image by name; empty if there is none. */
  Optional<StoredImage> find(String name);

  /**
   * The metadata of an image to add.
   *
   * @param source where it comes from, for display
   * @param env the environment that it sets
   * @param user the user that it sets; empty for none
   * @param cwd the working directory that it sets; empty for none
   * @param replace whether to replace an existing image of the same name
   */
  record NewImage(
      String source, Map<String, String> env, String user, String cwd, boolean replace) {
    /** An image without defaults, which replaces none. */
    public static final NewImage PLAIN = new NewImage("a template", Map.of(), "", "", false);

    public NewImage {
      env = Map.copyOf(env);
    }
  }

  /**
   * Checks whether an image of that name could be added now.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it is not a valid name
   * @throws dev.isola.spi.error.Conflict if the name is taken and the image must not be replaced,
   *     or cannot be because sandboxes use it
   */
  void checkCanAdd(String name, boolean replace);

  /** Adds an image from a tar stream of a root file system, atomically. */
  void add(String name, InputStream archive, NewImage metadata);

  /**
   * The files of another image, and changes to them. Paths are relative to the root.
   *
   * @param base the name of the other image
   * @param emptied folders whose content is taken neither from the base nor from the changes
   * @param replaced folders whose content is taken from the changes only
   * @param changes an archive as of {@link dev.isola.spi.capability.Snapshotting}; empty for none
   */
  record Layer(
      String base, List<String> emptied, List<String> replaced, Optional<InputStream> changes) {
    public Layer {
      emptied = List.copyOf(emptied);
      replaced = List.copyOf(replaced);
    }
  }

  /**
   * Adds an image with the files of another one, atomically and without a copy of them. The two
   * images are independent: either can be removed.
   *
   * @throws dev.isola.spi.error.NotFound if the other image does not exist
   */
  void addLayer(String name, Layer layer, NewImage metadata);

  /** Returns whether an image has a user; false if that cannot be told from its files. */
  boolean hasUser(String image, String user);

  /**
   * Pulls an image from a registry, or builds one that the server has a built-in recipe for, unless
   * it already exists.
   *
   * @param progress receives short progress messages on any thread
   * @return the name of the image
   */
  String pull(String reference, Consumer<String> progress);

  /**
   * Removes an image; does nothing if there is none.
   *
   * @throws dev.isola.spi.error.Conflict if sandboxes use it
   */
  void remove(String name);
}
