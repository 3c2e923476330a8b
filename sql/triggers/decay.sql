-- Retention: what is left of a strength S0 after some hours, 0 to 1. Each model
-- is S0·e^(-x) with an x of its own. Their bodies are bound when they are made,
-- so no search_path reaches into them. They are strict, so that the planner does not
-- inline them: some microseconds each, which a tick over all layers does without.

-- Hours that have passed: none before the beginning, and no more than any clock
-- will count.
create or replace function helix.passed(hours double precision) returns double precision
language sql immutable strict parallel safe
return case when hours > 1e-9 then least(hours, 1e9) else 0 end;

-- exp(-x) below 1e-308 raises an underflow, and so would a product.
create or replace function helix.decayed(strength double precision, x double precision) returns double precision
language sql immutable strict parallel safe
return case when x > 600 or not strength > 1e-40 then 0 else least(strength, 1) * exp(-x) end;

-- A time constant that can be divided by.
create or replace function helix.constant(hours double precision) returns double precision
language sql immutable strict parallel safe
return least(greatest(hours, 1e-9), 1e12);

-- S0·e^(-t/S)
create or replace function helix.ebbinghaus(strength double precision, hours double precision, stability_hours double precision)
returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, helix.passed(hours) / helix.constant(stability_hours));

-- S0·0.5^(t/h)
create or replace function helix.half_life(strength double precision, hours double precision, half_life_hours double precision)
returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, ln(2::double precision) * (helix.passed(hours) / helix.constant(half_life_hours)));

-- S0·(1 + t/tau)^(-b)
create or replace function helix.power_law(strength double precision, hours double precision, tau_hours double precision,
  exponent double precision) returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, case when exponent > 1e-9 then least(exponent, 1e6) else 0 end * ln(1 + helix.passed(hours) / helix.constant(tau_hours)));

-- FSRS-6: S0·(1 + f·t/S)^d with d = -0.1542 and f = 0.9^(1/d) - 1, so that 0.9 is
-- left of 1 after the stability.
create or replace function helix.fsrs(strength double precision, hours double precision, stability_hours double precision)
returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, 0.1542::double precision
  * ln(1 + (power(0.9::double precision, -1 / 0.1542::double precision) - 1) * (helix.passed(hours) / helix.constant(stability_hours))));

-- A number of a layer's decay_params, null where there is none: whatever else a
-- project has there stops no tick.
create or replace function helix.layer_parameter(decay_params jsonb, name text) returns double precision
language sql immutable strict parallel safe
return case when jsonb_typeof(decay_params -> name) = 'number' then case
  when abs((decay_params -> name)::numeric) < 1e-15 then 0 -- 1e-400 is too small for double precision, and 1e400 too large
  else least(greatest((decay_params -> name)::numeric, -1e12), 1e12)::double precision end end;

-- Retention of a psychology layer, by its own model and parameters where they are
-- null: 1 half-life 720 h, 2 Ebbinghaus 168 h, 3 power b 0.5 and tau 1 h, 4 half-life
-- 360 h, 5 Ebbinghaus 240 h, 6 half-life 480 h, 7 Ebbinghaus 1440 h, any other
-- Ebbinghaus 168 h.
create or replace function helix.layer_retention(layer_number integer, decay_model text, decay_params jsonb,
  initial_strength double precision, hours double precision) returns double precision language sql immutable parallel safe
return case coalesce(decay_model, case when layer_number in (1, 4, 6) then 'half_life' when layer_number = 3 then 'power' else 'ebbinghaus' end)
  when 'power' then helix.power_law(initial_strength, hours,
    coalesce(helix.layer_parameter(decay_params, 'hours'), 1), coalesce(helix.layer_parameter(decay_params, 'exponent'), 0.5))
  when 'half_life' then helix.half_life(initial_strength, hours, coalesce(helix.layer_parameter(decay_params, 'hours'),
    case layer_number when 1 then 720 when 4 then 360 when 5 then 240 when 6 then 480 when 7 then 1440 else 168 end))
  when 'fsrs' then helix.fsrs(initial_strength, hours, coalesce(helix.layer_parameter(decay_params, 'hours'),
    case layer_number when 1 then 720 when 4 then 360 when 5 then 240 when 6 then 480 when 7 then 1440 else 168 end))
  else helix.ebbinghaus(initial_strength, hours, coalesce(helix.layer_parameter(decay_params, 'hours'),
    case layer_number when 1 then 720 when 4 then 360 when 5 then 240 when 6 then 480 when 7 then 1440 else 168 end)) end;

revoke all on function helix.passed(double precision), helix.decayed(double precision, double precision),
  helix.constant(double precision), helix.ebbinghaus(double precision, double precision, double precision),
  helix.half_life(double precision, double precision, double precision),
  helix.power_law(double precision, double precision, double precision, double precision),
  helix.fsrs(double precision, double precision, double precision), helix.layer_parameter(jsonb, text),
  helix.layer_retention(integer, text, jsonb, double precision, double precision)
  from public, anon, authenticated, service_role;
-- memories_with_retention runs these with its caller's rights.
grant execute on function helix.passed(double precision), helix.decayed(double precision, double precision),
  helix.constant(double precision), helix.fsrs(double precision, double precision, double precision),
  helix.utc(timestamp), helix.utc(timestamptz) to authenticated, service_role;
