package dev.isola.document.recipe;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a template is built.
 *
 * @param base what the first step begins with
 * @param start a command that runs in the background of every sandbox; that of the base when empty
 * @param ready a command that succeeds once {@code start} can be used; that of the base when empty
 */
public record Recipe(
    Base base,
    List<BuildStep> steps,
    Optional<String> start,
    Optional<String> ready,
    Optional<Long> cpus,
    Optional<Long> memoryMb) {

  /** How many steps a recipe may have. */
  public static final int MAX_STEPS = 1000;

  public Recipe {
    steps = List.copyOf(steps);
  }

  /** What a build begins with. */
  public sealed interface Base {
    /**
     * An image of this server; where it has none of that name, one that is pulled from a registry.
     *
     * @param name as a spec or a registry names it
     * @param defaults what it brings beside its files; of the image itself where empty
     */
    record Image(String name, Defaults defaults) implements Base {
      public Image(String name) {
        this(name, Defaults.NONE);
      }
    }

    /** The root of the provider, for providers that take no images. */
    record Host(Defaults defaults) implements Base {}

    /** Another template, by its id or one of its names. */
    record FromTemplate(String name) implements Base {}
  }

  /**
   * What steps and sandboxes begin with.
   *
   * @param user that runs commands; empty for the image's, then root
   * @param cwd in which commands run; empty for the image's, then {@code /}
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
