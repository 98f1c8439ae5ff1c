package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Implements {@code isola completion}. The scripts complete the name of a command themselves and
 * ask the hidden command {@code isola complete} for the rest, because ids, names and images change.
 */
@Command(
    name = "completion",
    description = {
      "Print a completion script: commands, options, and the ids and names of sandboxes,",
      "providers, images, snapshots, volumes and templates."
    },
    footer = {
      "%nTo enable it, add a line to the startup file of the shell:",
      "  source <(isola completion bash)     # ~/.bashrc",
      "  source <(isola completion zsh)      # ~/.zshrc, after compinit",
      "  isola completion fish | source      # ~/.config/fish/config.fish"
    })
final class CompletionCommand implements CliCommand {
  /** Values of SHELL, for shell completion. */
  static final class Shells extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    Shells() {
      super(List.of("bash", "zsh", "fish"));
    }
  }

  // Candidates go into the array as they are: compgen -W would expand them like a command line.
  private static final String BASH =
      """
      # Completion of isola for bash; enable it with: source <(isola completion bash)
      _isola() {
        local candidate line="${COMP_LINE:0:COMP_POINT}" current colon=
        local -a words
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        current="${words[${#words[@]} - 1]}"
        # Bash splits words at colons, too, and replaces only what follows the last one.
        [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && colon="${current%:*}:"
        COMPREPLY=()
        if [ "${#words[@]}" -eq 2 ] && [[ $current != -* ]]; then
          for candidate in @COMMANDS@; do
            [[ $candidate == "$current"* ]] && COMPREPLY+=("$candidate")
          done
          return 0
        fi
        while IFS= read -r candidate; do
          candidate="${candidate#"$colon"}"
          [ -n "$candidate" ] && COMPREPLY+=("$candidate")
        done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null </dev/null)
        if [ "${#COMPREPLY[@]}" -eq 1 ] && [[ ${COMPREPLY[0]} == *: ]]; then
          compopt -o nospace
        fi
        return 0
      }
      complete -o default -F _isola isola
      """;

  private static final String ZSH =
      """
      #compdef isola
      # Completion of isola for zsh; enable it with: source <(isola completion zsh)
      _isola() {
        local -a candidates
        if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then
          candidates=(@COMMANDS@)
        else
          candidates=("${(@f)$(${words[1]} complete -- "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
          candidates=(${candidates:#})
        fi
        if (( ${#candidates} )); then
          compadd -a candidates
        else
          _files
        fi
      }
      compdef _isola isola
      """;

  private static final String FISH =
      """
      # Completion of isola for fish; enable it with: isola completion fish | source
      function __isola_complete
        set -l words (commandline -opc) (commandline -ct)
        isola complete -- $words[2..-1] 2>/dev/null </dev/null
      end
      complete -c isola -n __fish_use_subcommand -f -a '@COMMANDS@'
      complete -c isola -n 'not __fish_use_subcommand' -a '(__isola_complete)'
      """;

  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "SHELL",
      arity = "0..1",
      completionCandidates = Shells.class,
      description = "bash, zsh or fish. Default: bash.")
  private String shell = "bash";

  CompletionCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    String script =
        switch (shell) {
          case "bash" -> BASH;
          case "zsh" -> ZSH;
          case "fish" -> FISH;
          default ->
              throw new UsageException(
                  "there is no completion for the shell '" + shell + "'", "use bash, zsh or fish");
        };
    context.console().print(script.replace("@COMMANDS@", commands(spec.root())));
    return ExitCodes.OK;
  }

  private static String commands(CommandSpec root) {
    return root.subcommands().entrySet().stream()
        .filter(command -> !command.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey)
        .collect(Collectors.joining(" "));
  }
}
