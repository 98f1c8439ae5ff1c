package dev.isola.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A template as the ledger has it.
 *
 * @param names by which clients know it, its own first
 * @param image as a spec names it; empty text until a build has succeeded
 * @param document what sandboxes begin with, as JSON
 * @param build the newest build, which may not have been begun
 */
public record TemplateEntry(
    String id,
    List<String> names,
    String image,
    String document,
    Optional<Long> cpus,
    Optional<Long> memoryMb,
    String build,
    State state,
    Instant createdAt,
    Instant updatedAt) {

  /** Whether a template is there to stay. */
  public enum State {
    AVAILABLE,
    /** It is being removed: no client sees it any more. */
    REMOVING
  }

  public TemplateEntry {
    names = List.copyOf(names);
  }

  public TemplateEntry withState(State next, Instant now) {
    return new TemplateEntry(
        id, names, image, document, cpus, memoryMb, build, next, createdAt, now);
  }

  public TemplateEntry withNames(List<String> all, Instant now) {
    return new TemplateEntry(
        id, all, image, document, cpus, memoryMb, build, state, createdAt, now);
  }

  /** Returns this with the result of a build. */
  public TemplateEntry withBuild(String newImage, String newDocument, Instant now) {
    return new TemplateEntry(
        id, names, newImage, newDocument, cpus, memoryMb, build, state, createdAt, now);
  }
}
