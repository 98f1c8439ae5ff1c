package dev.isola.compat.e2b.template;

import dev.isola.engine.api.TemplateView;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What sandboxes of one kind are made from and begin with.
 *
 * @param id as E2B's clients name it
 * @param names by which it is known besides
 * @param image as a spec names it; empty while it was never built, and for the machine's own root
 * @param env of every command
 * @param user who runs commands that name nobody; empty for the provider's choice
 * @param folder where they run; empty for the workspace
 * @param start a command that runs in the background of every sandbox
 * @param ready a command that succeeds when {@code start} has come far enough
 * @param build the last one that worked, or the one that goes on
 */
public record E2bTemplate(
    String id,
    List<String> names,
    Optional<String> image,
    Map<String, String> env,
    String user,
    String folder,
    Optional<String> start,
    Optional<String> ready,
    Optional<Long> cpus,
    Optional<Long> memoryMb,
    String build,
    Instant createdAt) {
  /** Who commands run as, and where, when nobody says otherwise. */
  public static final String USER = "user";

  public static final String HOME = "/home/user";

  public E2bTemplate {
    names = List.copyOf(names);
    env = Map.copyOf(env);
  }

  /** The machine's own programs, for providers that take no images; its users are the machine's. */
  public static final E2bTemplate HOST = of("host", Optional.empty(), "", "");

  /** One that is an image and nothing more. */
  public static E2bTemplate of(String id, String image) {
    return of(id, Optional.of(image), USER, HOME);
  }

  /** One of the engine's; where it names no user or folder, it has those of E2B's templates. */
  static E2bTemplate of(TemplateView view) {
    return new E2bTemplate(
        view.id(),
        view.names(),
        view.image(),
        view.env(),
        view.user().isEmpty() ? USER : view.user(),
        view.cwd().isEmpty() ? HOME : view.cwd(),
        view.start(),
        view.ready(),
        view.cpus(),
        view.memoryMb(),
        view.build(),
        view.createdAt());
  }

  private static E2bTemplate of(String id, Optional<String> image, String user, String folder) {
    return new E2bTemplate(
        id,
        List.of(id),
        image,
        Map.of(),
        user,
        folder,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        "",
        Instant.EPOCH);
  }

  /** Returns what this begins with, on other files. */
  public E2bTemplate onFilesOf(E2bTemplate files) {
    return new E2bTemplate(
        files.id(),
        files.names(),
        files.image(),
        env,
        user,
        folder,
        start,
        ready,
        cpus,
        memoryMb,
        build,
        createdAt);
  }

  /** Returns this with a command in the background. */
  public E2bTemplate withStart(String command) {
    return new E2bTemplate(
        id,
        names,
        image,
        env,
        user,
        folder,
        Optional.of(command),
        ready,
        cpus,
        memoryMb,
        build,
        createdAt);
  }
}
