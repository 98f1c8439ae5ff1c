package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.Host;
import dev.isola.app.operate.Fact;
import dev.isola.app.operate.Machine;
import dev.isola.app.operate.Tools;
import dev.isola.server.api.SetupStep;
import dev.isola.spi.provider.ProviderFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What {@code doctor} finds of the machine and its programs, for who asks a server. */
final class SetupSteps {
  private SetupSteps() {}

  static List<SetupStep> here(Host host, DataFolder data) {
    Map<String, List<String>> programs = new HashMap<>();
    for (ProviderFactory factory : host.factories()) {
      programs.put(factory.name(), factory.programs());
    }
    List<SetupStep> steps = new ArrayList<>();
    Machine.facts(data).forEach(fact -> steps.add(step("machine", fact)));
    Tools.of(host.env(), programs).facts().forEach(fact -> steps.add(step("tool", fact)));
    return steps;
  }

  private static SetupStep step(String about, Fact fact) {
    return new SetupStep(about, fact.name(), fact.good(), fact.value(), fact.fix());
  }
}
