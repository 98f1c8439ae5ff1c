package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.remote.ServerNames;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Implements the hidden {@code isola complete}, which completion scripts call: prints the
 * candidates for the last word, one on each line. Prints nothing on errors and ends within a few
 * seconds, because the user waits at a prompt.
 */
@Command(
    name = "complete",
    hidden = true,
    description = "Print the candidates for the last word of a command line.")
final class CompleteCommand implements CliCommand {
  /** How many seconds the user waits for a server, which may be behind a slow network. */
  private static final String SECONDS = "ISOLA_COMPLETION_SECONDS";

  private static final Pattern POSITIVE = Pattern.compile("[1-9][0-9]{0,2}");

  /** A server is not trusted: a candidate must not be able to do anything in a shell. */
  private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/@-]{0,255}");

  private final CommandContext context;

  @Parameters(arity = "0..*", paramLabel = "WORD", description = "Words after isola.")
  private List<String> words = new ArrayList<>();

  CompleteCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    CompletableFuture<List<String>> candidates = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("isola-complete")
        .start(
            () -> {
              try {
                candidates.complete(candidates());
              } catch (RuntimeException e) {
                candidates.complete(List.of());
              }
            });
    try {
      StringBuilder text = new StringBuilder();
      candidates.get(seconds(), TimeUnit.SECONDS).forEach(one -> text.append(one).append('\n'));
      context.console().print(text.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // No candidates; the shell completes file names.
    }
    return ExitCodes.OK;
  }

  private long seconds() {
    String chosen = context.environment().variables().getOrDefault(SECONDS, "");
    return POSITIVE.matcher(chosen).matches() ? Long.parseLong(chosen) : 2;
  }

  private List<String> candidates() {
    if (words.isEmpty()) {
      return List.of();
    }
    String current = words.getLast();
    CompletionContext found =
        CompletionContext.of(words.subList(0, words.size() - 1), current, context);
    List<String> all = new ArrayList<>(found.words());
    names(found).stream().filter(HARMLESS.asMatchPredicate()).forEach(all::add);
    return all.stream().filter(word -> word.startsWith(current)).distinct().sorted().toList();
  }

  private List<String> names(CompletionContext found) {
    ServerNames server =
        new ServerNames(
            context.environment().variables(),
            found.optionValue("--server"),
            found.optionValue("--context"));
    return switch (found.kind()) {
      case NONE -> List.of();
      case SANDBOX -> server.sandboxes();
      case SANDBOX_PATH -> withColon(server.sandboxes());
      case EXECUTION -> server.executions(found.firstPositional());
      case SNAPSHOT -> server.snapshots();
      case VOLUME -> server.volumes();
      case VOLUME_PATH -> withColon(server.volumes());
      case TEMPLATE -> server.templates();
      case SECRET -> server.secrets();
      case SERVER_PROVIDER -> server.providers();
      case LOCAL_PROVIDER -> localProviders();
      case LOCAL_IMAGE -> localImages();
      case SERVER_IMAGE -> server.images();
      case CONFIGURED_IMAGE -> server.isConfigured() ? server.images() : localImages();
      case CONTEXT -> server.contexts();
    };
  }

  private static List<String> withColon(List<String> names) {
    return names.stream().map(name -> name + ":").toList();
  }

  private List<String> localProviders() {
    List<String> names = new ArrayList<>();
    context.environment().factories().forEach(factory -> names.add(factory.name()));
    return names;
  }

  private List<String> localImages() {
    return new ImageStore(context.dataFolder().path()).list().stream().map(Image::name).toList();
  }
}
