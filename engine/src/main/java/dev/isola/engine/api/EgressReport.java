package dev.isola.engine.api;

import dev.isola.egress.ConnectionView;
import dev.isola.egress.Denial;
import dev.isola.egress.EgressTotals;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import java.util.List;

/**
 * The egress of a sandbox as clients see it.
 *
 * @param egress the settings of the spec
 * @param rules the rules that apply, with those of presets and domains
 * @param fallback what happens to names that no rule matches
 * @param everyPort whether connections to every port are passed on; otherwise to named ones only
 * @param connections the open connections
 * @param recentConnections the connections that ended last
 * @param recentDenials the latest connections that were denied or failed
 */
public record EgressReport(
    Egress egress,
    List<EgressRule> rules,
    EgressAction fallback,
    boolean everyPort,
    EgressTotals totals,
    List<ConnectionView> connections,
    List<ConnectionView> recentConnections,
    List<Denial> recentDenials) {}
