package dev.isola.app.serve;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.operate.DoctorCheck;
import dev.isola.app.operate.MachineChecks;
import dev.isola.app.operate.ToolChecks;
import dev.isola.server.api.SetupStep;
import dev.isola.spi.provider.ProviderFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Collects the results of {@code doctor} about the machine and its tools for the setup API. */
final class SetupSteps {
  private SetupSteps() {}

  static List<SetupStep> collect(CliEnvironment environment, DataFolder data) {
    Map<String, List<String>> programs = new HashMap<>();
    for (ProviderFactory factory : environment.factories()) {
      programs.put(factory.name(), factory.programs());
    }
    List<SetupStep> steps = new ArrayList<>();
    MachineChecks.checks(data).forEach(fact -> steps.add(step("machine", fact)));
    ToolChecks.of(environment.variables(), programs)
        .checks()
        .forEach(fact -> steps.add(step("tool", fact)));
    return steps;
  }

  private static SetupStep step(String about, DoctorCheck fact) {
    return new SetupStep(about, fact.name(), fact.good(), fact.value(), fact.fix());
  }
}
