package dev.isola.app.operate;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.remote.RemoteFault;
import dev.isola.app.remote.ServerOptions;
import dev.isola.client.Isola;
import dev.isola.client.error.IsolaException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints the providers of a server. */
record ServerProviders(ServerOptions.Server server) {
  private static final long MEGABYTE = 1024 * 1024;

  int print(Console console) {
    try (Isola isola = Isola.connect(server.url(), server.key())) {
      List<Map<String, Object>> providers = isola.providers();
      if (console.json()) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("apiVersions", isola.apiVersions());
        json.put("providers", providers);
        console.print(json);
      } else {
        console.print(table(providers).fitted(console.columns()));
      }
      return ExitCodes.OK;
    } catch (IsolaException e) {
      throw RemoteFault.of(e);
    }
  }

  private static Table table(List<Map<String, Object>> providers) {
    Table table = new Table().row("NAME", "STATUS", "ISOLATION", "ACTIVE", "MEMORY", "CPU");
    for (Map<String, Object> one : providers) {
      Map<?, ?> available = one.get("available") instanceof Map<?, ?> map ? map : Map.of();
      table.row(
          cell(one.get("name")),
          cell(one.get("status")),
          cell(one.get("isolation")),
          cell(one.get("active")),
          available.get("memoryMb") instanceof Number memory
              ? CellFormat.size(memory.longValue() * MEGABYTE)
              : "-",
          cell(available.get("cpu")));
    }
    return table;
  }

  private static String cell(@Nullable Object value) {
    return value == null ? "-" : CellFormat.text(String.valueOf(value));
  }
}
