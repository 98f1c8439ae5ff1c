package dev.isola.compat.e2b.template;

import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.document.recipe.BuildStep;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Translates the build instructions of E2B's clients into recipe steps.
 *
 * @param archives returns the SHA-256 of the archive that was uploaded under a client's hash
 */
record BuildInstructions(Function<String, Optional<String>> archives) {

  BuildStep step(E2bRequestBody instruction) {
    String type = instruction.required("type");
    List<String> args = instruction.texts("args");
    return switch (type) {
      case "RUN" -> new BuildStep.Run(arg(args, 0).orElse("true"), arg(args, 1));
      case "COPY" ->
          new BuildStep.Copy(
              archive(instruction),
              arg(args, 0).orElse("."),
              arg(args, 1).orElse("."),
              arg(args, 2),
              arg(args, 3));
      case "ENV" -> new BuildStep.Env(variables(args));
      case "WORKDIR" ->
          arg(args, 0).<BuildStep>map(BuildStep.Workdir::new).orElseGet(BuildInstructions::noOp);
      case "USER" ->
          arg(args, 0).<BuildStep>map(BuildStep.User::new).orElseGet(BuildInstructions::noOp);
      default ->
          throw Fault.of(
                  ErrorCode.NOT_IMPLEMENTED,
                  "the instruction " + type + " is not supported",
                  "use RUN, COPY, ENV, WORKDIR and USER")
              .exception();
    };
  }

  private static Optional<String> arg(List<String> args, int index) {
    return index < args.size()
        ? Optional.of(args.get(index)).filter(text -> !text.isBlank())
        : Optional.empty();
  }

  /** Returns a step without effect, so that the following steps keep their numbers. */
  private static BuildStep noOp() {
    return new BuildStep.Env(Map.of());
  }

  private static Map<String, String> variables(List<String> args) {
    Map<String, String> variables = new LinkedHashMap<>();
    for (int i = 0; i + 1 < args.size(); i += 2) {
      variables.put(args.get(i), args.get(i + 1));
    }
    return variables;
  }

  private String archive(E2bRequestBody instruction) {
    String hash =
        instruction
            .text("filesHash")
            .orElseThrow(
                () -> failure("a COPY instruction has no filesHash", "upload the files first"));
    return archives
        .apply(hash)
        .orElseThrow(
            () -> failure("the files " + hash + " were not uploaded", "start the build again"));
  }

  private static SandboxException failure(String what, String remedy) {
    return Fault.of(ErrorCode.BUILD_FAILED, what, remedy).exception();
  }
}
