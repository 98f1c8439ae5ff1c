package dev.isola.document.recipe;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Describes how to build a template.
 *
 * @param base the starting point of the build
 * @param start a command that runs in the background of every sandbox; that of the base if empty
 * @param ready a command that succeeds once {@code start} is ready; that of the base if empty
 */
public record Recipe(
    Base base,
    List<BuildStep> steps,
    Optional<String> start,
    Optional<String> ready,
    Optional<Long> cpus,
    Optional<Long> memoryMb) {

  /** The maximum number of steps of a recipe. */
  public static final int MAX_STEPS = 1000;

  public Recipe {
    steps = List.copyOf(steps);
  }

  /** The starting point of a build. */
  public sealed interface Base {
    /**
     * An image of this server, or of a registry if the server has none of that name.
     *
     * @param name as used in a spec or a registry
     * @param defaults overrides of the image's own defaults, where not empty
     * @param createUser whether to create the user of {@code defaults}, with its working folder as
     *     home directory, if the image has no user of that name
     */
    record Image(String name, Defaults defaults, boolean createUser) implements Base {
      public Image(String name, Defaults defaults) {
        this(name, defaults, false);
      }

      public Image(String name) {
        this(name, Defaults.NONE);
      }
    }

    /** The root file system of the provider, for providers without image support. */
    record Host(Defaults defaults) implements Base {}

    /** Another template, by its id or one of its names. */
    record FromTemplate(String name) implements Base {}
  }

  /**
   * Initial values for the build steps and for sandboxes.
   *
   * @param user the user that runs commands; empty for that of the image, or root
   * @param cwd the working folder of commands; empty for that of the image, or {@code /}
   */
  public record Defaults(
      Map<String, String> env,
      String user,
      String cwd,
      Optional<String> start,
      Optional<String> ready) {
    public static final Defaults NONE =
        new Defaults(Map.of(), "", "", Optional.empty(), Optional.empty());

    public Defaults {
      env = Map.copyOf(env);
    }
  }
}
