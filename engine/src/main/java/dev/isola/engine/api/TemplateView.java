package dev.isola.engine.api;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A template: an image and the defaults of sandboxes created from it.
 *
 * @param names the names of the template, the primary one first; others have the form {@code
 *     NAME:TAG}
 * @param image the image reference for a spec; empty until a build has succeeded
 * @param env the environment of every command
 * @param user the user that runs commands; empty for the default of the provider
 * @param cwd the working directory of commands; empty for the default of the provider
 * @param start a command that runs in the background of every sandbox
 * @param ready a command that succeeds once {@code start} is ready for use
 * @param build the id of the newest build, in any state
 * @param builds the number of builds that were requested; 0 if it is not known
 */
public record TemplateView(
    String id,
    List<String> names,
    Optional<String> image,
    Map<String, String> env,
    String user,
    String cwd,
    Optional<String> start,
    Optional<String> ready,
    Optional<Long> cpus,
    Optional<Long> memoryMb,
    String build,
    long builds,
    Instant createdAt,
    Instant updatedAt) {
  public TemplateView {
    names = List.copyOf(names);
    env = Map.copyOf(env);
  }

  /** Returns the primary name; the id if the template has no name. */
  public String name() {
    return names.isEmpty() ? id : names.getFirst();
  }
}
