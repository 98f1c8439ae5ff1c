package dev.isola.engine.api;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the engine tells of one template: an image, and what sandboxes made from it begin with.
 *
 * @param names by which clients know it, its own first; further ones have the form {@code NAME:TAG}
 * @param image as a spec names it; empty while no build has succeeded
 * @param env of every command
 * @param user that runs commands; empty for the provider's choice
 * @param cwd in which commands run; empty for the provider's choice
 * @param start a command that runs in the background of every sandbox
 * @param ready a command that succeeds once {@code start} can be used
 * @param build the newest build: asked for, under way or over
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
    Instant createdAt,
    Instant updatedAt) {
  public TemplateView {
    names = List.copyOf(names);
    env = Map.copyOf(env);
  }

  /** Returns the name without a tag; the id where it has none. */
  public String name() {
    return names.isEmpty() ? id : names.getFirst();
  }
}
